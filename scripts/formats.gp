# SPDX-License-Identifier: MIT
# The last plot, drawn as OUTPUT.svg, again as OUTPUT.pdf and OUTPUT.png, in the same proportions.
set terminal pdfcairo size 7in,4.5in font 'sans-serif,12' fontscale 0.45 linewidth 0.9 pointscale 0.75 background '#ffffff'
set output output.'.pdf'
replot
set terminal pngcairo size 1680,1080 font 'sans-serif,12' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set output output.'.png'
replot
set output
