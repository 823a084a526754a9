-- The calculator story under strict contacts: the programmer may not write to the
-- designer, asks its parent, is introduced, and continues.

require("calculator.story")
