"""Who somebody is over there, to be written to or kept away."""

from __future__ import annotations

from collections.abc import Mapping

from dialogs.record import queries
from dialogs.record.erasing import erased_among
from dialogs.record.hits import assignments_by_id
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record


async def known_as(
    record: Record, study_id: str, rows: Mapping[str, ArrivalRow]
) -> tuple[dict[str, list[str]], list[str]]:
    """The recruiter's ids of the people of these arrivals, each with the arrivals it is of; and
    of which arrivals nobody can tell, and why.

    A link says who somebody is, and so can name anybody; what the recruiter says of the assignment
    counts as soon as it says something.
    """
    erased = await record.read(erased_among, [row.worker_id for row in rows.values()])
    gone = [name for name, row in rows.items() if row.worker_id in erased]
    problems = [f"{name}: was erased on request; nobody knows who it was" for name in gone]
    claimed = await record.read(queries.external_ids, [row.worker_id for row in rows.values()])
    told = await record.read(
        assignments_by_id, study_id, [row.assignment_id for row in rows.values()]
    )
    people: dict[str, list[str]] = {}
    for name, row in rows.items():
        if row.worker_id in erased:
            continue
        worker, seen = claimed[row.worker_id], told.get(row.assignment_id)
        if seen is not None and seen.worker != worker:
            problems.append(
                f"{name}: came with the id of somebody else; the recruiter says that another "
                "worker did this work"
            )
        people.setdefault(worker, []).append(name)
    return people, problems
