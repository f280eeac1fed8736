# SPDX-License-Identifier: MIT
# Shares of launches, traffic and arithmetic in the time of each algorithm, a row a size: gnuplot -c scripts/bill.gp NAME
# OUTPUT. The four are told apart in grey too.
name = ARG1
output = ARG2
height = 960
load 'scripts/style.gp'
unset logscale x
unset ylabel
unset xlabel
set grid noxtics
set xrange [0.3:columns + 0.7]
set yrange [0:top]
set ytics 0, 25, 100 format '%.0f %%'
set xtics rotate by -35 noenhanced font ',11' scale 0
set boxwidth 0.72
set key at screen 0.52, screen 0.045 center center horizontal maxrows 1 width 1 font ',10' samplen 1.5
array fills = ['fs solid border lc rgb "#333333" fc rgb "#16324f"', 'fs solid border lc rgb "#333333" fc rgb "#5b9bd5"', \
    'fs solid border lc rgb "#333333" fc rgb "#f6e0b4"', 'fs pattern 2 border lc rgb "#333333" fc rgb "#333333"']
array said = ['launches', 'traffic in the L2', 'traffic of the memory', 'arithmetic (steps)']
bars = ''
entries = ''
do for [c = 4:1:-1] { bars = bars.sprintf('data index p - 1 using 1:%d with boxes lw 0.8 %s notitle, ', c + 1, fills[c]) }
do for [c = 1:4] { entries = entries.sprintf('NaN with boxes lw 0.8 %s title "%s", ', fills[c], said[c]) }
if (measured) { entries = entries.'NaN with points pt 6 ps 1.1 lw 1.6 lc rgb "#000000" title "measured time", ' }
points = measured ? ', data index p - 1 using 1:6 with points pt 7 ps 1.1 lc rgb "#ffffff" notitle' . \
    ', data index p - 1 using 1:6 with points pt 6 ps 1.1 lw 1.6 lc rgb "#000000" notitle' : ''
totals = 'data index p - 1 using 1:(0.93 * top):8 with labels font ",10" noenhanced notitle'
side = 0.69 / count - 0.035
do for [f = 1:3] {
    eval(begin(f))
    set multiplot
    load 'scripts/headings.gp'
    do for [p = 1:count] {
        set tmargin at screen 0.825 - (p - 1) * (side + 0.035)
        set bmargin at screen 0.825 - (p - 1) * (side + 0.035) - side
        set title word(panels, p) offset 0, -0.7 font ',12' enhanced
        if (p == count) {
            set label 1005 note at screen 0.02, 0.012 font ',9' noenhanced tc rgb '#444444'
            set label 1006 watermark at screen 0.55, 0.52 center rotate by 24 font ',64' tc rgb '#a0909090' front
        }
        names = p == count ? 'xtic(7)' : 'xtic("")'
        eval('plot '.bars.(p == count ? entries : '').totals.points.', data index p - 1 using 1:(NaN):'.names.' notitle')
        unset label
    }
    unset multiplot
    unset label
}
set output
