package response

import (
	"io"

	"github.com/troupe-api/troupe/http/internal/wire"
)

// An Indenter indents the JSON written to it, with one line per member and item and two spaces per
// level. The JSON must be valid and without white space.
type Indenter struct {
	to    io.Writer
	out   []byte
	depth int
	// inString means inside a string, escape after a backslash in a string, and opened directly
	// after an opening bracket.
	inString, escape, opened bool
}

func NewIndenter(w io.Writer) *Indenter { return &Indenter{to: w} }

// maxIndent is the depth at which the indentation stops growing.
const maxIndent = 1 << 10

var indentation = func() (b [2 * maxIndent]byte) {
	for i := range b {
		b[i] = ' '
	}
	return b
}()

// Write indents a part of the document. The part may end anywhere, even in a string.
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

// scanString returns how many bytes at the start of b belong to the current string. It scans at
// most as many bytes as fit into the buffer.
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
