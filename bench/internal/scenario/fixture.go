package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// fixture is a namespace of a workload's own, with numbered objects. Workloads that need two collections of
// objects have two fixtures.
type fixture struct {
	session          *Session
	namespace        string
	payload          []byte   // of the configured size
	total            int      // objects 0 to total-1 are there from the start
	otherCollections []string // collections to empty beside that of the objects
}

// namespaceCounter numbers the namespaces of this process. Together with the process id it keeps runs on
// one server apart.
var namespaceCounter atomic.Int64

// epoch is what the times in objects count from. The monotonic clock is used, which a change of the time of
// day does not move.
var epoch = time.Now()

// prepare makes a namespace and puts objects 0 to n-1 into it. A fixture that could not be filled is
// removed again.
func (s *Session) prepare(ctx context.Context, n int) (*fixture, error) {
	f := &fixture{
		session:   s,
		namespace: fmt.Sprintf("bench-%d-%d", os.Getpid(), namespaceCounter.Add(1)),
		payload:   bytes.Repeat([]byte("x"), s.Size),
		total:     n,
	}
	c := s.Target.Conn()
	defer c.Close()
	if err := f.addNamespace(c); err != nil {
		return nil, err
	}
	// What was made before the failure would stay on a server that is not ours.
	if err := f.populate(ctx, n); err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

// addNamespace makes the namespace. It fails if the name is taken, for then another run is at work on the
// server.
func (f *fixture) addNamespace(c *server.Conn) error {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, f.namespace)
	_, err := c.Expect(http.StatusCreated, http.MethodPost, "/api/v1/namespaces", server.TypeJSON, body)
	return err
}

// populate creates objects 0 to n-1; any failure is an error. Preparation is not measured, and has as many
// clients as the load.
func (f *fixture) populate(ctx context.Context, n int) error {
	return f.fill(ctx, n, f.create)
}

// fill runs step n times; any failure is an error. A measurement on half of the objects would be one of
// something else. There is no limit of time but that of the run.
func (f *fixture) fill(ctx context.Context, n int, step measure.Step) error {
	if n <= 0 {
		return nil
	}
	load := measure.Load{Concurrency: min(f.session.Concurrency, n), Count: n}
	sample, err := load.Drive(ctx, f.session.Target, step)
	if err != nil {
		return err
	}
	// Failed operations are not among these, so this also finds any that was refused.
	if sample.Operations < n {
		return fmt.Errorf("prepared %d of %d objects: %s", sample.Operations, n, sample.FirstError)
	}
	return nil
}

// remove deletes the objects and the namespace. A server without a namespace controller empties
// none by itself, hence both. Trouble is only noted: the measurement is already made.
func (f *fixture) remove() {
	c := f.session.Target.Conn()
	defer c.Close()
	for _, path := range append(f.otherCollections, f.collection(), f.namespacePath()) {
		if err := removeAll(c, path); err != nil {
			f.session.Note("clean-up of %s: %v", path, err)
		}
	}
}

// maxDeleteAttempts is how often a deletion is asked for: many objects can take longer than a request may.
const maxDeleteAttempts = 5

// removeAll deletes what is at path. Deletions that began may go on in the server after the request has
// timed out, so a repetition finds fewer.
// An answer below 500 that is no success will not change by asking again, and ends the attempts.
func removeAll(c *server.Conn, path string) (err error) {
	for range maxDeleteAttempts {
		status, answer, failed := c.Do(http.MethodDelete, path+"?gracePeriodSeconds=0", "", nil)
		switch {
		case failed == nil && (status == http.StatusOK || status == http.StatusAccepted):
			return nil
		case failed == nil && status < http.StatusInternalServerError:
			return fmt.Errorf("status %d: %s", status, server.Excerpt(answer))
		case failed == nil:
			failed = fmt.Errorf("status %d: %s", status, server.Excerpt(answer))
		}
		err = failed
	}
	return err
}

// namespacePath is where the namespace itself is, and what the paths of all in it begin with.
func (f *fixture) namespacePath() string {
	return "/api/v1/namespaces/" + f.namespace
}

// collection is that of the objects: ConfigMaps, which no controller does anything for, so only the store is measured.
func (f *fixture) collection() string {
	return f.namespacePath() + "/configmaps"
}

// path is where the n-th object is.
func (f *fixture) path(n int) string {
	return f.collection() + "/" + name(n)
}

// itemKey begins the name of every object, as it stands in compact JSON. Counting these in a list is much
// cheaper for the client than to decode it.
const itemKey = `"name":"item-`

// binaryItemKey begins the name of every object in Protobuf and in CBOR. It is less specific, but nothing else in our
// objects looks like it.
const binaryItemKey = "item-"

// itemMark begins the name of every object in what a server answers.
func itemMark(target *server.Target) []byte {
	if target.Accept != "" {
		return []byte(binaryItemKey)
	}
	return []byte(itemKey)
}

// sentKey comes before the time at which a version of an object was sent, in nanoseconds since epoch. It
// has a name that no other field has.
const sentKey = `"sent":"`

// Names have the same length, so that requests and answers have, too.
func name(n int) string {
	return fmt.Sprintf("item-%06d", n)
}

// object is the n-th object in its whole, stamped with the time. It is put together by hand, as encoding
// would cost the client more than the server takes.
// The estimate of the capacity is generous, so that the slice is allocated once.
func (f *fixture) object(n int) []byte {
	b := make([]byte, 0, len(f.payload)+200)
	b = append(b, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`...)
	b = append(b, name(n)...)
	b = append(b, `","namespace":"`...)
	b = append(b, f.namespace...)
	b = append(b, `"},"data":{`...)
	b = appendSent(b)
	b = append(b, `,"payload":"`...)
	b = append(b, f.payload...)
	return append(b, `"}}`...)
}

// The text differs in every write, so no write is one that changes nothing.
func appendSent(b []byte) []byte {
	b = append(b, sentKey...)
	b = strconv.AppendInt(b, int64(time.Since(epoch)), 10)
	return append(b, '"')
}

// create is the Step that creates the n-th object.
func (f *fixture) create(c *server.Conn, n int) (int, error) {
	contentType, body := f.body(n)
	answer, err := c.Expect(http.StatusCreated, http.MethodPost, f.collection(), contentType, body)
	return len(answer), err
}

// put is the Step that replaces one of total objects. Objects go round, so that all of them are hot alike.
// Objects carry no resourceVersion, so a write never conflicts with one of another client.
func (f *fixture) put(total int) measure.Step {
	return func(c *server.Conn, n int) (int, error) {
		n %= total
		contentType, body := f.body(n)
		answer, err := c.Expect(http.StatusOK, http.MethodPut, f.path(n), contentType, body)
		return len(answer), err
	}
}

// version reads a collection's resourceVersion, to watch from.
func (f *fixture) version(collection string) (string, error) {
	c := f.session.Target.Conn()
	defer c.Close()
	return f.versionOn(c, collection)
}

// versionOn is version on a connection that there is already. A limit of one keeps the list small: only its
// metadata is wanted, in JSON whatever the clients speak.
func (f *fixture) versionOn(c *server.Conn, collection string) (string, error) {
	defer func(accept string) { c.Accept = accept }(c.Accept)
	c.Accept = server.TypeJSON
	answer, err := c.Expect(http.StatusOK, http.MethodGet, collection+"?limit=1", "", nil)
	if err != nil {
		return "", err
	}
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return "", err
	}
	if list.Metadata.ResourceVersion == "" {
		return "", fmt.Errorf("list without a resourceVersion: %s", server.Excerpt(answer))
	}
	return list.Metadata.ResourceVersion, nil
}
