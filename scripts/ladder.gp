# SPDX-License-Identifier: MIT
# A bar an algorithm at up to three sizes: gnuplot -c scripts/ladder.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
colours = '0x7fc4ec 0xb8860b 0x004a80 0xd0d0d0 0xaa4499' # of the families
panels = |heads|
left = 0.2
side = (0.985 - left - 0.02 * (panels - 1)) / panels
start = lowest / 3
end = highest * (highest / start) ** 0.25 # room for the text behind the bars
set logscale x 10
set xrange [start:end]
set yrange [rungs + 0.6:0.4]
set tmargin at screen 0.80
set bmargin at screen 0.175
set grid noytics
set format x '%.0s %c'
set xtics 1, 100
set xlabel 'elements per second'
unset ylabel
set key at screen 0.55, screen 0.07 center center vertical maxrows 1 Left reverse noenhanced samplen 1.5 width 2 font ',11'
box = '1:(start):2:($1 - 0.38):($1 + 0.38):(int(word(colours, int($4)))) with boxxyerror fs'
bars = 'plot data index p - 1 using ($2 * (1 - $3) > 0 ? $2 : NaN):'.box.' solid 1 lc rgb variable notitle'
hollow_bars = ', data index p - 1 using ($3 > 0 ? $2 : NaN):'.box.' empty lc rgb variable lw 1.5 notitle'
texts = ', data index p - 1 using (end):1:($2 > 0 ? strcol(5) : "") with labels right font ",10" noenhanced notitle'
reasons = ', data index p - 1 using (start):1:($2 > 0 ? "" : strcol(5)) with labels left offset 0.4, 0 font ",9" noenhanced notitle'
ticks = 'set ytics ('
do for [i = 1:rungs] { ticks = ticks.sprintf('%s names[%d] %d', i > 1 ? ',' : '', i, i) }
entries = ''
do for [i = 1:|family_titles|] {
    entries = entries.sprintf(', keyentry with boxes fs solid 1 lc rgb %s title family_titles[%d]', \
        word(colours, int(word(family_numbers, i))), i)
}
do for [f = 1:3] {
    eval(begin(f))
    set multiplot
    load 'scripts/headings.gp'
    set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
    do for [p = 1:panels] {
        set lmargin at screen left + (p - 1) * (side + 0.02)
        set rmargin at screen left + (p - 1) * (side + 0.02) + side
        set title heads[p] font ',12' offset 0, -0.5 noenhanced
        if (p == 1) { eval(ticks.') scale 0 font ",10" tc rgb "#222222" noenhanced') } else { unset ytics }
        unset arrow
        if (ceilings[p] > 0) { set arrow from ceilings[p], graph 0 to ceilings[p], graph 1 nohead lw 1.5 dt (4, 3) lc rgb '#444444' back }
        eval((stable[p] ? bars : 'plot NaN notitle').(doubtful[p] ? hollow_bars : '').texts.reasons.(p == 1 ? entries : ''))
        unset label
    }
    unset multiplot
}
set output
