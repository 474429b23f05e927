package terminal

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Cell size of a picture in pixels.
const (
	cellW = 8
	cellH = 16
)

var (
	paper = color.RGBA{0x12, 0x14, 0x18, 0xff}
	ink   = color.RGBA{0xd0, 0xd4, 0xda, 0xff}
)

// PNG writes a picture of the screen. Letters are Go Mono; braille is drawn as
// dots and boxes as lines, so no font of the machine matters.
func (t *Terminal) PNG(w io.Writer) error {
	plain, err := face(gomono.TTF)
	if err != nil {
		return err
	}
	bold, err := face(gomonobold.TTF)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	cols, rows := t.screen.Width(), t.screen.Height()
	img := image.NewRGBA(image.Rect(0, 0, cols*cellW, rows*cellH))
	draw.Draw(img, img.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	for y := range rows {
		for x := range cols {
			c := t.screen.CellAt(x, y)
			if c == nil {
				continue
			}
			f := plain
			if c.Style.Attrs&uv.AttrBold != 0 {
				f = bold
			}
			drawCell(img, f, x, y, c)
		}
	}
	return png.Encode(w, img)
}

func face(ttf []byte) (font.Face, error) {
	f, err := opentype.Parse(ttf)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: 13, DPI: 72, Hinting: font.HintingFull})
}

func drawCell(img *image.RGBA, f font.Face, x, y int, c *uv.Cell) {
	fg, bg := colors(c)
	box := image.Rect(x*cellW, y*cellH, (x+1)*cellW, (y+1)*cellH)
	if bg != paper {
		draw.Draw(img, box, image.NewUniform(bg), image.Point{}, draw.Src)
	}
	r := []rune(c.Content)
	if len(r) == 0 || r[0] == ' ' {
		return
	}
	switch {
	case r[0] >= 0x2800 && r[0] <= 0x28ff:
		braille(img, box, r[0]-0x2800, fg)
	case r[0] >= 0x2500 && r[0] <= 0x259f && shape(img, box, r[0], fg):
	default:
		d := font.Drawer{Dst: img, Src: image.NewUniform(fg), Face: f, Dot: fixed.P(box.Min.X, box.Min.Y+12)}
		d.DrawString(c.Content)
	}
}

func colors(c *uv.Cell) (fg, bg color.RGBA) {
	fg, bg = rgba(c.Style.Fg, ink), rgba(c.Style.Bg, paper)
	if c.Style.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		fg = color.RGBA{uint8((int(fg.R) + int(bg.R)) / 2), uint8((int(fg.G) + int(bg.G)) / 2), uint8((int(fg.B) + int(bg.B)) / 2), 0xff}
	}
	return fg, bg
}

func rgba(c color.Color, otherwise color.RGBA) color.RGBA {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

// brailleDots is the place of each bit of a braille rune, column and row.
var brailleDots = [8]image.Point{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

func braille(img *image.RGBA, box image.Rectangle, bits rune, fg color.RGBA) {
	for i, p := range brailleDots {
		if bits&(1<<i) == 0 {
			continue
		}
		x, y := box.Min.X+1+p.X*4, box.Min.Y+1+p.Y*4
		draw.Draw(img, image.Rect(x, y, x+2, y+2), image.NewUniform(fg), image.Point{}, draw.Src)
	}
}

// shape draws box lines and blocks; it says false for those it does not know.
func shape(img *image.RGBA, box image.Rectangle, r rune, fg color.RGBA) bool {
	fill := func(x0, y0, x1, y1 int) {
		draw.Draw(img, image.Rect(box.Min.X+x0, box.Min.Y+y0, box.Min.X+x1, box.Min.Y+y1), image.NewUniform(fg), image.Point{}, draw.Src)
	}
	const mx, my = cellW / 2, cellH / 2
	if r >= 0x2581 && r <= 0x2588 { // lower blocks
		fill(0, cellH-int(r-0x2580)*cellH/8, cellW, cellH)
		return true
	}
	arms, known := boxArms[r]
	if !known {
		return false
	}
	for _, a := range arms {
		switch a {
		case 'l':
			fill(0, my, mx+1, my+1)
		case 'r':
			fill(mx, my, cellW, my+1)
		case 'u':
			fill(mx, 0, mx+1, my+1)
		case 'd':
			fill(mx, my, mx+1, cellH)
		case ':':
			for y := 1; y < cellH; y += 4 {
				fill(mx, y, mx+1, y+2)
			}
		case '-':
			for x := 0; x < cellW; x += 4 {
				fill(x, my, x+2, my+1)
			}
		}
	}
	return true
}

// boxArms says which arms a box rune has.
var boxArms = map[rune]string{
	'─': "lr", '│': "ud", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '├': "udr", '┤': "udl", '┬': "lrd", '┴': "lru", '┼': "lrud",
	'╭': "rd", '╮': "ld", '╰': "ru", '╯': "lu", '╴': "l", '╵': "u", '╶': "r", '╷': "d", '┆': ":", '┊': ":", '┄': "-", '┈': "-", '╎': ":", '╌': "-",
}
