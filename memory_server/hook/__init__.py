"""The face for clients' hooks: a process for each event, which starts in a tenth of a second and never fails."""
