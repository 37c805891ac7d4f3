"""Exchange between files: a record for each kind of item, and the merge of two versions of one item."""
