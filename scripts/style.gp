# SPDX-License-Identifier: MIT
# What all charts have in common. A chart sets `name` and `output` and loads it; NAME.gp and NAME.dat say what is drawn.
set encoding utf8
set micro
set datafile missing NaN
load name.'.gp'
data = name.'.dat'
count = words(styles)

# Style i has a colour, a dash and a point: 7, 5 and 6 of them, so a triple repeats after 210. Colours are told apart
# by colour-blind readers, and by their lightness in greyscale.
colours = '0x000000 0x0072b2 0xd55e00 0x009e73 0xaa4499 0x56b4e9 0xb8860b'
shapes = '7 9 5 13 11 15' # filled; one less is the same shape, hollow
colour(i) = int(word(colours, 1 + (int(i) - 1) % 7))
shape(i) = int(word(shapes, 1 + (int(i) - 1) % 6))
# Where two variants of each algorithm are drawn, dashes tell the variants apart, not the algorithms: style i + 210 is
# style i in a solid line, i + 420 in a dashed one.
do for [i = 1:60] {
    set style line i lw 1.6 ps 0.8 dt 1 + (i - 1) % 5 lc rgb colour(i) pt shape(i)
    set style line i + 210 lw 1.6 ps 0.8 dt 1 lc rgb colour(i) pt shape(i)
    set style line i + 420 lw 1.6 ps 0.8 dt (8, 5) lc rgb colour(i) pt shape(i)
}
set style line 100 lw 6 dt 1 lc rgb '#c8c8c8' pt 0
set style line 520 lw 3 dt (4, 3) lc rgb '#a8a8a8' pt 0
set style line 200 lw 0.6 dt 1 lc rgb '#dddddd'
set style line 201 lw 0.8 dt 1 lc rgb '#777777' pt 6 ps 1.6
set style line 202 lw 0.8 dt (8, 5) lc rgb '#777777' pt 6 ps 1.6
# Landmarks behind the lines of a panel.
set style line 203 lw 1.2 dt 1 lc rgb '#999999' pt 0
set style line 204 lw 1.2 dt (4, 3) lc rgb '#999999' pt 0
style(i) = int(word(styles, i + 1))

# What is appended to the lines of a plot command: the points that did not become stable, hollow.
hollow = uncertain == 0 ? '' : \
    ', name.".unstable" using 1:2:(shape($3)) with points pt variable ps 0.8 lc rgb "white" notitle' . \
    ', name.".unstable" using 1:2:(shape($3) - 1):(colour($3)) with points pt variable ps 0.8 lc rgb variable notitle'
hollow_note = uncertain == 0 ? '' : 'Hollow points: '.hollow_points.'.'

# Texts: the heading and three lines above the frame, flags between them and the frame, a note below.
if (!exists('height')) height = 540
small = ',10'
row_height = 29.7 / height
frame = 0.83 - row_height * flags
flag(row) = frame + row_height * row
load 'scripts/headings.gp'
set tmargin at screen frame
set bmargin at screen 0.15
set lmargin at screen 0.115
set ylabel offset 1, 0
key_font = count > 15 ? ',10' : ',11'
set key outside right center vertical Left reverse noenhanced samplen 3.5 spacing (count > 15 ? 0.95 : 1.25) width 1 font key_font
set border 3 lc rgb '#777777'
set tics nomirror out textcolor rgb '#222222' font ',11'
set grid xtics ytics ls 200

set logscale x 2
set xrange [least / 1.15:most * 1.15]
if (lowest == highest) set yrange [lowest / 3.0:highest * 3.0]
set format x '2^{%L}'
set xtics 1, 2 ** (most / least > 2 ** 12 ? 2 : 1)
# Where the sizes span fewer than two powers of two, the least and the most are labelled instead.
powers = floor(log(most) / log(2) + 1e-9) - ceil(log(least) / log(2) - 1e-9) + 1
if (powers < (least == most ? 1 : 2)) {
    set format x '%.0f'
    set xtics (least)
    if (most > 1.06 * least) { set xtics add (most) }
}
set xlabel 'n, elements' offset 0, 0.3

if (!exists('available')) available = GPVAL_TERMINALS
# The three formats, in the same proportions. A chart draws the first itself; formats.gp draws the others.
# FONT= names another face, as the one of the text that a figure is to stand in.
face = system('printf %s "${FONT:-sans-serif}" | tr -cd "A-Za-z0-9 -"')
array formats = ['svg', 'pdf', 'png']
array terminals = [sprintf("svg size 840,%d font '%s,12' dynamic", height, face), \
    sprintf("pdfcairo size 7in,%fin font '%s,12' fontscale 0.45 linewidth 0.9 pointscale 0.75", height / 120.0, face), \
    sprintf("pngcairo size 1680,%d font '%s,12' fontscale 1.5 linewidth 2 pointscale 2", 2 * height, face)]
has(i) = strstrt(' '.available.' ', ' '.word(terminals[i], 1).' ')
begin(i) = has(i) ? sprintf("set terminal %s background '#ffffff'; set output output.'.%s'", terminals[i], formats[i]) : \
    'set terminal dumb; set output "/dev/null"' # scripts/draw says what is missing
eval(begin(1))
