"""What a dialog is, and the record of it.

`rules`, `events`, `state` and `dialog` are the pure core (standard library only, no clock, no I/O);
`record` keeps it in SQL; `items` and `images` bring in what is talked about; `formats` and
`export` write what was said; `quality` says what in it a reviewer should look at.
"""
