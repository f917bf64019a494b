"""Raw data: released annotations with pinned digests, and comics that are each fetched once and then locked.

The manifests in data/manifests/ hold addresses, digests and licences. docs/data.md explains the files, the lock and
the fetch log.
"""
