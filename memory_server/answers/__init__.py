"""The answers of all faces: the fields of a memory, a fact or a change that a reader gets, in their order."""
