package audit

import (
	"context"
	"io"
)

// NewLog makes a Sink that writes lines. It closes to, if that can be closed.
func NewLog(to io.Writer, o SinkOptions) *Sink { return newSink("log", o, &logOutput{to: to}, 1) }

// A logOutput writes the lines of a batch with one call. Many goroutines may use its writer.
type logOutput struct{ to io.Writer }

// A batch is one write, so that the file has whole lines whatever happens, and rotates between batches.
func (l *logOutput) write(_ context.Context, _ <-chan struct{}, lines [][]byte) error {
	text := lines[0]
	if len(lines) > 1 {
		size := 0
		for _, line := range lines {
			size += len(line)
		}
		text = make([]byte, 0, size)
		for _, line := range lines {
			text = append(text, line...)
		}
	}
	_, err := l.to.Write(text)
	return err
}

func (l *logOutput) close() error {
	if c, ok := l.to.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
