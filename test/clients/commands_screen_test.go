package clients

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// A screen interprets the escape sequences that troupe writes, and stores the visible text.
type screen struct {
	mu            sync.Mutex
	width, height int
	rows          [][]rune
	x, y          int
	other         bool // the alternate screen is shown
	hidden        bool // the cursor is hidden
	faults        []string
	pending       string // an incomplete escape sequence or character
}

func newScreen(width, height int) *screen {
	s := &screen{width: width, height: height}
	s.clear()
	return s
}

func (s *screen) clear() {
	s.rows, s.x, s.y = make([][]rune, s.height), 0, 0
}

// Write interprets text, which may end in the middle of an escape sequence or rune.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.pending + string(text)
	for rest != "" {
		if sequence, after, found := cutSequence(rest); found {
			s.obey(sequence)
			rest = after
			continue
		}
		if rest[0] == '\x1b' || !utf8.FullRuneInString(rest) {
			break
		}
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		s.draw(r)
	}
	s.pending = rest
	return len(text), nil
}

// cutSequence splits text after a leading escape sequence such as "\x1b[?25l".
func cutSequence(text string) (sequence, after string, found bool) {
	body, ok := strings.CutPrefix(text, "\x1b[")
	if !ok {
		return "", text, false
	}
	end := strings.IndexFunc(body, func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return "", text, false
	}
	return body[:end+1], body[end+1:], true
}

func (s *screen) obey(sequence string) {
	switch sequence {
	case "?1049h", "?1049l":
		s.other = sequence[5] == 'h'
		s.clear()
	case "?25h", "?25l":
		s.hidden = sequence[3] == 'l'
	case "H":
		s.x, s.y = 0, 0
	case "K":
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
	case "J":
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		for y := s.y + 1; y < s.height; y++ {
			s.rows[y] = nil
		}
	default:
		s.faults = append(s.faults, fmt.Sprintf("the sequence %q", sequence))
	}
}

func (s *screen) draw(r rune) {
	switch r {
	case '\r':
		s.x = 0
	case '\n':
		if s.y++; s.y == s.height {
			s.faults = append(s.faults, "the screen scrolls")
			s.rows, s.y = append(s.rows[1:], nil), s.height-1
		}
	default:
		if s.x >= s.width {
			s.faults = append(s.faults, fmt.Sprintf("row %d is too long: %s", s.y, string(s.rows[s.y])))
			return
		}
		for len(s.rows[s.y]) <= s.x {
			s.rows[s.y] = append(s.rows[s.y], ' ')
		}
		s.rows[s.y][s.x] = r
		s.x++
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestScreenInParts checks that a screen accepts output split at any byte.
func TestScreenInParts(t *testing.T) {
	s := newScreen(9, 1)
	for _, b := range []byte("\x1b[Ha – ü…") {
		if _, err := s.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.String(); got != "a – ü…" || len(s.faults) > 0 {
		t.Errorf("got %q, %v", got, s.faults)
	}
}
