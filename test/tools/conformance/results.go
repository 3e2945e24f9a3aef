package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A resultFile keeps results between runs, so that a suite that takes hours can be split. It
// contains one JSON object per line. The last result of a test counts.
type resultFile struct{ path string }

// kept is the stored form of a result, without its output.
type kept struct {
	Test    string  `json:"test"`
	Outcome outcome `json:"outcome"`
	Seconds float64 `json:"seconds"`
	Reason  string  `json:"reason,omitempty"`
}

func (f resultFile) read() (map[string]result, error) {
	all := map[string]result{}
	text, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer text.Close()
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		var k kept
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", f.path, lines.Text(), err)
		}
		all[k.Test] = result{name: k.Test, outcome: k.Outcome, took: time.Duration(k.Seconds * float64(time.Second)), reason: k.Reason}
	}
	return all, lines.Err()
}

func (f resultFile) add(is result) error {
	line, err := json.Marshal(kept{is.name, is.outcome, is.took.Round(time.Millisecond).Seconds(), is.reason})
	if err != nil {
		return err
	}
	text, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = text.Write(append(line, '\n'))
	return errors.Join(err, text.Close())
}
