# SPDX-License-Identifier: MIT
# The last plot was OUTPUT.svg; draws it again as OUTPUT.pdf and OUTPUT.png.
do for [i = 2:3] {
    eval(begin(i))
    replot
}
set output
