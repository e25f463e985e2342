"""The record: what is true. SQL tables, the group-commit writer, queries, migrations.

All SQL of the project is here. `tables` names the rows and the constraints that settle races,
`decisions` turns events into rows, `writer` commits them, `queries` reads them back, `store`
opens a database and holds these together.
"""
