# SPDX-License-Identifier: MIT
# Launches, and additions for each element, side by side: gnuplot -c scripts/readme_figure.gp NAME OUTPUT
# NAME.gp and NAME.dat are those of the chart `launches`; NAME.additions is the data of `additions`.
name = ARG1
output = ARG2
height = 380
load 'scripts/style.gp'
unset label
set xtics 1, most / least > 2 ** 12 ? 16 : 4
set tmargin at screen 0.88
set bmargin at screen 0.17
set yrange [0:*]
do for [i = 1:3] {
    eval(begin(i))
    set multiplot
    set key at screen 0.995, screen 0.5 right center
    set title 'Launches'
    set lmargin at screen 0.06
    set rmargin at screen 0.37
    plot for [j = 0:count - 1] data index j using 1:2 with linespoints ls style(j) title columnheader(1)
    unset key
    set title 'Additions for each element'
    set lmargin at screen 0.44
    set rmargin at screen 0.75
    plot for [j = 0:words(additions_styles) - 1] name.'.additions' index j using 1:($2 / $1) with linespoints \
        ls int(word(additions_styles, j + 1)) notitle
    unset multiplot
}
set output
