"""Understands a call as it was meant: numbers as text, other names, messages in any shape. No tool is named here.

Nothing is accepted that could mean two things. What was understood differently from what was written is in the notes.
"""
