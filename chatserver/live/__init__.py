"""The live service: what happens behind the edge, one idea a module.

`hub` knows which page is connected; `dialogs` carries out commands and keeps the folds;
`lobby` brings people together; `arrivals` is a person's way through; `deadlines` are moments
at which the rules are asked again; `fanout` tells the other processes; `health` says whether
the process may act on time; `views` is what a page is shown; `service` holds them together.
"""
