package simulation

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A session is a running command with its streams. The output of streams that the client did not
// request is discarded. Without stdin, the input is empty.
type session struct {
	ctx            context.Context // ends with the connection
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            bool
}

type wanted struct{ stdin, stdout, stderr, tty bool }

func wantedStreams(query url.Values) wanted {
	on := func(names ...string) bool {
		for _, name := range names {
			if v := query.Get(name); v == "1" || v == "true" {
				return true
			}
		}
		return false
	}
	w := wanted{stdin: on("input", "stdin"), stdout: on("output", "stdout"), stderr: on("error", "stderr"), tty: on("tty")}
	w.stderr = w.stderr && !w.tty
	return w
}

func serveStreams(w http.ResponseWriter, r *http.Request, want wanted, run func(*session) int) {
	switch {
	case !want.stdin && !want.stdout && !want.stderr:
		http.Error(w, "you must specify at least 1 of stdin, stdout, stderr", http.StatusBadRequest)
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		serveWebSocket(w, r, want, run)
	case strings.EqualFold(r.Header.Get("Upgrade"), spdyProtocol):
		serveSPDY(w, r, want, run)
	default:
		http.Error(w, "unable to upgrade: the request is for neither SPDY/3.1 nor a WebSocket", http.StatusBadRequest)
	}
}

func (s *session) write(to io.Writer, text string) {
	if s.tty {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = io.WriteString(to, text) // the client may be gone
}

func (s *session) play(command []string, environment map[string]string) int {
	name := ""
	if len(command) > 0 {
		name = command[0][strings.LastIndexByte(command[0], '/')+1:]
	}
	if (name == "sh" || name == "bash" || name == "ash") && !slices.Contains(command, "-c") && s.stdin != nil {
		return s.shell(environment)
	}
	if name == "cat" && len(command) == 1 && s.stdin != nil {
		_, _ = io.Copy(s.stdout, s.stdin) // until either ends
		return 0
	}
	return s.once(command, environment)
}

func (s *session) once(command []string, environment map[string]string) int {
	r, known := interpret(command, environment, s.stdin)
	if !known {
		s.write(s.stderrOrTerminal(), "troupe: unsupported command in a simulated container: "+strings.Join(command, " ")+"\n")
		return 127
	}
	s.write(s.stdout, r.out.String())
	s.write(s.stderrOrTerminal(), r.err.String())
	if r.forever {
		<-s.ctx.Done()
	} else {
		select {
		case <-s.ctx.Done():
		case <-time.After(r.slept):
		}
	}
	return r.code
}

func (s *session) stderrOrTerminal() io.Writer {
	if s.tty {
		return s.stdout
	}
	return s.stderr
}

// shell simulates a shell that reads commands line by line, until end of input or exit.
func (s *session) shell(environment map[string]string) int {
	input, code := bufio.NewReaderSize(s.stdin, 4096), 0
	for {
		if s.tty {
			s.write(s.stdout, "$ ")
		}
		line, ok := s.readLine(input)
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "exit" {
			if len(fields) > 1 {
				code, _ = strconv.Atoi(fields[1])
			}
			return code
		} else if len(fields) > 0 {
			code = s.once([]string{"sh", "-c", line}, environment)
		}
		if !ok {
			return code
		}
	}
}

// maxLine is the maximum length of an input line, in bytes.
const maxLine = 64 << 10

func (s *session) readLine(input *bufio.Reader) (line string, ok bool) {
	var text []byte
	for len(text) < maxLine {
		b, err := input.ReadByte()
		switch {
		case err != nil, s.tty && b == 4: // Ctrl-D
			return string(text), false
		case b == '\n', b == '\r':
			if s.tty {
				s.write(s.stdout, "\n")
			}
			return string(text), true
		case s.tty && (b == 127 || b == 8):
			if len(text) > 0 {
				text = text[:len(text)-1]
				_, _ = io.WriteString(s.stdout, "\b \b") // see write
			}
		case s.tty && b == 3: // Ctrl-C
			s.write(s.stdout, "^C\n")
			return "", true
		default:
			text = append(text, b)
			if s.tty {
				_, _ = s.stdout.Write([]byte{b}) // see write
			}
		}
	}
	return string(text), true
}

func exitStatus(code int) []byte {
	status := map[string]any{"metadata": map[string]any{}, "status": "Success"}
	if code != 0 {
		status = map[string]any{
			"metadata": map[string]any{}, "status": "Failure", "reason": "NonZeroExitCode",
			"message": "command terminated with non-zero exit code: exit status " + strconv.Itoa(code),
			"details": map[string]any{"causes": []any{map[string]any{"reason": "ExitCode", "message": strconv.Itoa(code)}}},
		}
	}
	text, err := json.Marshal(status)
	if err != nil {
		panic(err) // cannot fail, because it contains only strings
	}
	return text
}
