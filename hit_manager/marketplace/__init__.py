"""A marketplace for a team's own pool of people, with the requester API of Mechanical Turk.

`tables` and `store` keep it; `hits`, `assignments`, `qualifications`, `workers` and `money` are
its rules; `api` is what requesters' programs talk to, `pages` is what workers see.
"""
