package transcript

import (
	"fmt"
	"regexp"
	"strings"
)

// A block is a paragraph of a file: an exchange or, if method is empty, a set of defaults.
type block struct {
	head         []string // lines before the response
	line         int      // number of the request line
	until        bool
	user, method string
	path         string // for watch, preceded by its name; for events, number and name
	header, show []string
	lets, keeps  [][2]string
	body         string
	answer       string // response including the mark
}

const mark = "=>"

var (
	requestLine = regexp.MustCompile(`^(until )?(?:as (\S+) )?([A-Z]+|watch|events) (\S.*)$`)
	headerLine  = regexp.MustCompile(`^[A-Z][A-Za-z0-9%-]*:( |$)`)
	assignment  = regexp.MustCompile(`^(let|keep) (\w+) = (.*)$`)
)

func parse(file, text string) (blocks []*block, err error) {
	lines := append(strings.Split(text, "\n"), "")
	start := 0
	for i, line := range lines {
		if line != "" {
			continue
		}
		if i > start {
			b, err := parseBlock(lines[start:i], start+1)
			if err != nil {
				return nil, fmt.Errorf("%s:%w", file, err)
			}
			blocks = append(blocks, b)
		}
		start = i + 1
	}
	return blocks, nil
}

func parseBlock(lines []string, number int) (*block, error) {
	b := &block{line: number}
	for i, line := range lines {
		if strings.HasPrefix(line, mark) {
			b.answer, lines = strings.Join(lines[i:], "\n"), lines[:i]
			break
		}
	}
	b.head = lines
	for i, line := range lines {
		switch request, assign := requestLine.FindStringSubmatch(line), assignment.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "#"):
		case assign != nil && assign[1] == "let":
			b.lets = append(b.lets, [2]string{assign[2], assign[3]})
		case assign != nil:
			b.keeps = append(b.keeps, [2]string{assign[2], assign[3]})
		case strings.HasPrefix(line, "show "):
			b.show = strings.Split(strings.TrimPrefix(line, "show "), ", ")
		case headerLine.MatchString(line):
			b.header = append(b.header, line)
		case b.method == "" && request != nil:
			b.line, b.until, b.user, b.method, b.path = number+i, request[1] != "", request[2], request[3], request[4]
		case b.method == "":
			return nil, fmt.Errorf("%d: neither a request nor a default: %s", number+i, line)
		default:
			b.body = strings.Join(lines[i:], "\n")
			return b, nil
		}
	}
	if b.method == "" && b.answer != "" {
		return nil, fmt.Errorf("%d: an answer without a request", number)
	}
	return b, nil
}

// format formats the blocks of a file with their responses. It is the inverse of parse.
func format(blocks []*block) string {
	var texts []string
	for _, b := range blocks {
		text := strings.Join(b.head, "\n")
		if b.answer != "" {
			text += "\n" + b.answer
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n") + "\n"
}
