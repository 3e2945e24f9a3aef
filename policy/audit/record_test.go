package audit_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/audit"
)

// bufferRecorder records the address of the last written buffer without keeping the buffer alive.
type bufferRecorder struct{ last weak.Pointer[byte] }

func (w *bufferRecorder) Write(b []byte) (int, error) {
	w.last = weak.Make(&b[0])
	return len(b), nil
}

func TestDropBuffers(t *testing.T) {
	w := &bufferRecorder{}
	u := audit.New(mustParse(t, "rules: [{level: Metadata}]"), meta.Platform, time.Now,
		audit.NewLog(w, audit.SinkOptions{Mode: audit.BlockingStrict, Logger: discardLogger()}))
	a := request("jane", nil, "get /x")
	r := u.Begin(&a, start)
	r.EmitStage(audit.ResponseStarted, 200)
	if runtime.GC(); w.last.Value() == nil {
		t.Fatal("what is written is not the buffer of the record, so this test shows nothing")
	}
	r.DropBuffers()
	if runtime.GC(); w.last.Value() != nil {
		t.Error("the text is kept")
	}
	r.EmitStage(audit.ResponseComplete, 200)
	r.Release()
}
