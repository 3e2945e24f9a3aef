package audit

import (
	"context"
	"io"
)

// NewLog returns a Sink that writes lines to a writer. If the writer is an io.Closer, the Sink
// closes it.
func NewLog(to io.Writer, o SinkOptions) *Sink { return newSink("log", o, &logOutput{to: to}, 1) }

// A logOutput writes lines to a writer, which must be safe for concurrent use.
type logOutput struct{ to io.Writer }

// write writes a batch with one call, so that neither interleaving nor rotation splits it.
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
