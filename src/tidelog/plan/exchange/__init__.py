"""Plans for many stores: where tuples are, and where a plan is cut because its matches must travel (design section 5).

To be read in this order: `making.py` says what one worker must evaluate for all; `placement.py` says where the tuples
of each relation are, and chooses; `cut.py` puts `Send`, `Receive` and `AtHome` into a plan, whose pieces between them
are its *legs*. Nothing here knows how many workers there are: the home of a value is found when it is there
(`exchange/homes.py`).
"""
