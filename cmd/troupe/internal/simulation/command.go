package simulation

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A result is the outcome of a simulated command. slept is how long the command sleeps in total.
// forever means that it never ends.
type result struct {
	out, err strings.Builder
	slept    time.Duration
	forever  bool
	code     int
}

func (r *result) lines() []string {
	text := strings.TrimSuffix(r.out.String()+r.err.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// maxInput is how many bytes a command reads from its input at most.
const maxInput = 1 << 20

// interpret simulates a command. It supports echo, printf without formats, true, false, sleep,
// exit, hostname, env, date, cat of its input, and sh -c with a list of these commands separated by
// ";", "&&" or "||". For all other commands, known is false and the result is invalid. interpret
// does not sleep, but returns the duration in slept. input may be nil.
func interpret(command []string, environment map[string]string, input io.Reader) (r *result, known bool) {
	r = new(result)
	return r, r.run(command, environment, input)
}

func (r *result) run(command []string, environment map[string]string, input io.Reader) (known bool) {
	if len(command) == 0 {
		return false
	}
	name, args := command[0][strings.LastIndexByte(command[0], '/')+1:], command[1:]
	r.code = 0
	switch name {
	case "sh", "bash", "ash":
		if len(args) < 2 || args[0] != "-c" {
			return false
		}
		return r.script(args[1], environment, input)
	case "echo":
		r.out.WriteString(strings.Join(args, " ") + "\n")
	case "printf":
		if len(args) != 1 || strings.ContainsAny(args[0], `%\`) {
			return false
		}
		r.out.WriteString(args[0])
	case "true", ":":
	case "false":
		r.code = 1
	case "sleep":
		return len(args) == 1 && r.sleep(args[0])
	case "exit":
		return len(args) <= 1 && r.exit(args)
	case "hostname":
		r.out.WriteString(environment["HOSTNAME"] + "\n")
	case "env", "printenv":
		if len(args) > 0 {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(environment)) {
			r.out.WriteString(name + "=" + environment[name] + "\n")
		}
	case "date":
		r.out.WriteString(time.Now().UTC().Format(time.UnixDate) + "\n")
	case "cat":
		if len(args) > 0 || input == nil {
			return false
		}
		if _, err := io.Copy(&r.out, io.LimitReader(input, maxInput)); err != nil {
			r.code = 1
		}
	default:
		return false
	}
	return true
}

func (r *result) sleep(text string) bool {
	if text == "infinity" || text == "inf" {
		r.forever = true
		return true
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 {
		return false
	}
	r.slept += d
	return true
}

func (r *result) exit(args []string) bool {
	if len(args) == 0 {
		return true
	}
	code, err := strconv.Atoi(args[0])
	r.code = code & 0xff
	return err == nil
}

// script simulates a list of commands. It rejects expansion, redirection and grouping.
func (r *result) script(text string, environment map[string]string, input io.Reader) (known bool) {
	words, known := split(text)
	if !known {
		return false
	}
	for condition := ";"; ; {
		end := slices.IndexFunc(words, isSeparator)
		command := words
		if end >= 0 {
			command = words[:end]
		}
		if len(command) > 0 && !(condition == "&&" && r.code != 0) && !(condition == "||" && r.code == 0) {
			if !r.run(command, environment, input) {
				return false
			}
			if r.forever || command[0] == "exit" {
				return true
			}
		}
		if end < 0 {
			return true
		}
		condition, words = words[end], words[end+1:]
	}
}

func isSeparator(word string) bool { return word == ";" || word == "&&" || word == "||" }

// split splits a script into words and separators. It rejects quoted separators.
func split(script string) (words []string, ok bool) {
	word, inWord := strings.Builder{}, false
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(script); i++ {
		switch ch := script[i]; ch {
		case ' ', '\t':
			end()
		case ';', '\n':
			end()
			words = append(words, ";")
		case '&', '|':
			if i+1 == len(script) || script[i+1] != ch {
				return nil, false
			}
			end()
			words = append(words, string(ch)+string(ch))
			i++
		case '\'', '"':
			length := strings.IndexByte(script[i+1:], ch)
			if length < 0 {
				return nil, false
			}
			quoted := script[i+1 : i+1+length]
			if ch == '"' && strings.ContainsAny(quoted, "$`\\") || isSeparator(quoted) {
				return nil, false
			}
			word.WriteString(quoted)
			inWord = true
			i += 1 + length
		case '$', '`', '\\', '<', '>', '(', ')', '{', '}', '*', '?', '[', ']', '#', '~', '!', '=':
			return nil, false
		default:
			word.WriteByte(ch)
			inWord = true
		}
	}
	end()
	return words, true
}
