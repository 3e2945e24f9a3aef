package response

import (
	"io"

	"github.com/troupe-api/troupe/http/internal/wire"
)

// An Indenter lays out the JSON that is written to it, so that people can read it: a line for
// each member and item, two blanks for each level. The JSON is valid and holds no blanks.
type Indenter struct {
	to    io.Writer
	out   []byte
	depth int
	// inString: inside of a string. escape: behind a backslash in it. opened: behind a bracket.
	inString, escape, opened bool
}

// NewIndenter makes an indenter that writes to w.
func NewIndenter(w io.Writer) *Indenter { return &Indenter{to: w} }

// maxIndent is the depth from which lines are not indented further.
const maxIndent = 1 << 10

var indentation = func() (b [2 * maxIndent]byte) {
	for i := range b {
		b[i] = ' '
	}
	return b
}()

// Write lays out a part of a document, which may end anywhere.
func (p *Indenter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if p.inString {
			end := p.scanString(b)
			p.out = append(p.out, b[:end]...)
			b = b[end:]
		} else {
			p.writeStructural(b[0])
			b = b[1:]
		}
		if len(p.out) >= wire.MaxWriteSize/4 {
			if _, err := p.to.Write(p.out); err != nil {
				return 0, err
			}
			p.out = p.out[:0]
		}
	}
	_, err := p.to.Write(p.out)
	p.out = p.out[:0]
	return n, err
}

// scanString is how far b, in which a string goes on, belongs to it, in steps that fit the buffer.
func (p *Indenter) scanString(b []byte) int {
	b = b[:min(len(b), wire.MaxWriteSize/4)]
	for i, c := range b {
		switch {
		case p.escape:
			p.escape = false
		case c == '\\':
			p.escape = true
		case c == '"':
			p.inString = false
			return i + 1
		}
	}
	return len(b)
}

// writeStructural takes one byte that is outside of strings.
func (p *Indenter) writeStructural(c byte) {
	if p.opened && c != '}' && c != ']' {
		p.depth++
		p.newline()
	}
	closed := c == '}' || c == ']'
	if closed && !p.opened {
		p.depth--
		p.newline()
	}
	p.opened = c == '{' || c == '['
	p.inString = c == '"'
	p.out = append(p.out, c)
	switch c {
	case ',':
		p.newline()
	case ':':
		p.out = append(p.out, ' ')
	}
}

func (p *Indenter) newline() {
	p.out = append(p.out, '\n')
	p.out = append(p.out, indentation[:2*min(p.depth, maxIndent)]...)
}
