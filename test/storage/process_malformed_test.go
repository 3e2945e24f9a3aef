package storage

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

type wireRequest struct {
	method, target, headers, body string // each header ends with CR LF
}

func (r wireRequest) bytes() []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", r.method, r.target, r.headers, len(r.body), r.body)
}

const (
	contentJSON = "Content-Type: application/json\r\n"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	deployment  = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1500m"}},"ports":[{"containerPort":80}]}]}}}}`
)

// wellFormed lists valid requests. The test sends randomly altered copies of them.
var wellFormed = []wireRequest{
	{"GET", configMaps + "?limit=5&labelSelector=a%3Db,c+in+(d,e)&fieldSelector=metadata.name%3Da", "Accept: application/json\r\n", ""},
	{"GET", configMaps + "?resourceVersion=0&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=yes&sendInitialEvents=true&timeoutSeconds=1", "", ""},
	{"GET", configMaps + "?limit=1&continue=eyJ2IjoxLCJhdCI6MX0", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json;q=0.5\r\n", ""},
	{"GET", configMaps + "/a", "Accept: application/vnd.kubernetes.protobuf;q=0.9,application/yaml\r\nIf-None-Match: \"x\"\r\n", ""},
	{"GET", "/apis/apps/v1?timeout=5s", "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\nAccept-Encoding: gzip;q=1, *;q=0\r\n", ""},
	{"HEAD", "/openapi/v3/apis/apps/v1?hash=x", "", ""},
	{"GET", "/readyz?verbose&exclude=ping", "", ""},
	{"OPTIONS", "/api/v1/nodes", "Origin: https://y\r\nAccess-Control-Request-Method: GET\r\n", ""},
	{"POST", configMaps + "?fieldValidation=Strict&fieldManager=m", contentJSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"a":"b"}},"data":{"k":"v\u00e9"},"binaryData":{"b":"AAE="}}`},
	{"POST", configMaps, "Content-Type: application/yaml\r\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: &m\n  name: a\n  annotations: {a: \"1\", <<: {b: c}}\ndata:\n  text: |\n    lines\n"},
	{"POST", configMaps, "Content-Type: application/vnd.kubernetes.protobuf\r\n", "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x0f\n\r\n\x01a\x12\x00\x1a\x00\"\x00*\x002\x008\x00B\x00"},
	{"POST", configMaps, "Content-Type: application/cbor\r\n", "\xd9\xd9\xf7\xa3JapiVersionBv1DkindIConfigMapHmetadata\xa1DnameAa"},
	{"PUT", configMaps + "/a", contentJSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"0","finalizers":["e.com/f"],"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]},"data":{"k":"w"}}`},
	{"PATCH", configMaps + "/a", "Content-Type: application/merge-patch+json\r\n", `{"data":{"k":"x","gone":null},"metadata":{"annotations":{"a":"b"}}}`},
	{"PATCH", configMaps + "/a", "Content-Type: application/json-patch+json\r\n", `[{"op":"test","path":"/data/k","value":"x"},{"op":"add","path":"/data/l~1m","value":"1"},{"op":"copy","from":"/data/k","path":"/data/n"},{"op":"move","from":"/data/n","path":"/data/o"}]`},
	{"PATCH", configMaps + "/a?fieldManager=m&force=true", "Content-Type: application/apply-patch+yaml\r\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: applied}\n"},
	{"PATCH", deployments + "/d", "Content-Type: application/strategic-merge-patch+json\r\n", `{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"},{"name":"e","image":"i"}],"$setElementOrder/containers":[{"name":"e"}]}}}}`},
	{"POST", deployments + "?dryRun=All", contentJSON, deployment},
	{"POST", deployments + "?dryRun=All", "Content-Type: application/yaml\r\n", deployment},
	{"PUT", deployments + "/d/scale", contentJSON, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":1}}`},
	{"DELETE", configMaps + "/b?gracePeriodSeconds=0&propagationPolicy=Orphan", contentJSON, `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"x","resourceVersion":"1"}}`},
	{"DELETE", configMaps + "?labelSelector=nobody%3Dhas", contentJSON, `{"orphanDependents":true}`},
	{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", contentJSON, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","fieldSelector":{"rawSelector":"a=b"}}}}`},
	{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", contentJSON, `{"metadata":{"name":"xs.e.com"},"spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"xs","kind":"X"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.a > 1"}],"properties":{"a":{"type":"integer","default":2,"maximum":5}}}}}}}]}}`},
	{"GET", "/api/v1/namespaces/default/pods/p/log?tailLines=5&sinceSeconds=1&follow=false", "", ""},
	{"POST", "/api/v1/namespaces/default/pods/p/eviction", contentJSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`},
	{"GET", configMaps, "Impersonate-User: joe\r\nImpersonate-Group: devs\r\nImpersonate-Extra-a%2fb: c\r\nAudit-ID: x\r\nUser-Agent: k/v1 (l)\r\n", ""},
	{"GET", configMaps, "Authorization: Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.eyJpc3MiOiJ4Iiwic3ViIjoieSJ9.c2ln\r\nX-Remote-User: joe\r\n", ""},
}

// pieces lists strings to insert into requests to make them malformed.
var pieces = []string{
	"\x00", "%00", "%zz", "%2f", "..", "/", "//", "?", "&", "=", ";", ",", ":", "\"", "'", "\\", "{", "}", "[", "]", "null", "true", "-0", "1e400", "9223372036854775808", "0.1",
	"\xff\xfe", "\xed\xa0\x80", "\u2028", `\ud800`, "*", "&a [*a,*a]", "!!binary x", "<<: ", "- ", "\t", "|", "#", "~", "~2", "$patch", "$retainKeys", "f:", "..namespace",
	strings.Repeat("[", 300), strings.Repeat(`{"a":`, 300), strings.Repeat("A", 3000), "\xbf\xff", "\x9f", "\xfb\xff\xff\xff\xff\xff\xff\xff\xff", "\x0a\xff\xff\xff\xff\x0f",
}

// damaged returns a copy of text with a few random changes.
func damaged(r *rand.Rand, text string) string {
	b := []byte(text)
	for range 1 + r.IntN(3) {
		from := r.IntN(len(b) + 1)
		to := min(len(b), from+r.IntN(12))
		switch r.IntN(6) {
		case 0:
			if from < len(b) {
				b[from] ^= 1 << r.IntN(8)
			}
		case 1:
			b = slices.Delete(b, from, to)
		case 2:
			b = slices.Insert(b, from, slices.Clone(b[from:to])...)
		case 3:
			b = b[:from]
		default:
			b = slices.Insert(b, from, []byte(pieces[r.IntN(len(pieces))])...)
		}
	}
	return string(b)
}

// An abuser sends malformed requests, either as the administrator or unauthenticated.
type abuser struct {
	random *rand.Rand
	host   string
	config *tls.Config
	conn   net.Conn // reused while requests have a clear end; nil if there is no connection
	reader *bufio.Reader
	codes  map[int]int
}

// abuse sends a malformed request and reads the response. A request without a clear end is the last
// on its connection.
func (a *abuser) abuse() error {
	r := wellFormed[a.random.IntN(len(wellFormed))]
	part := []*string{&r.target, &r.headers, &r.body, &r.body}[a.random.IntN(4)]
	if *part == "" {
		part = &r.target
	}
	*part = damaged(a.random, *part)
	if a.random.IntN(50) == 0 { // sometimes send a request without a clear end
		return a.last([]byte(damaged(a.random, string(r.bytes()))))
	}
	r.target = strings.Map(func(c rune) rune {
		if strings.ContainsRune(" \r\n", c) {
			return '_'
		}
		return c
	}, r.target)
	lines := strings.FieldsFunc(r.headers, func(c rune) bool { return c == '\r' || c == '\n' })
	r.headers = strings.Join(append(lines, ""), "\r\n")
	return a.send(r)
}

func (a *abuser) send(r wireRequest) error {
	if err := a.dial(); err != nil {
		return err
	}
	text := r.bytes()
	_, wrote := a.conn.Write(text)
	closed, err := a.answer(r.method)
	if err != nil {
		a.hangUp()
		return fmt.Errorf("%q: no answer: %w (%v)", text[:min(len(text), 2000)], err, wrote)
	}
	if closed {
		a.hangUp()
	}
	return nil
}

// last sends bytes on a new connection, closes its write side, and reads all responses.
func (a *abuser) last(text []byte) error {
	a.hangUp()
	if err := a.dial(); err != nil {
		return err
	}
	defer a.hangUp()
	if _, err := a.conn.Write(text); err == nil {
		_ = a.conn.(*tls.Conn).CloseWrite() // the server may have closed it
	}
	for {
		closed, err := a.answer("GET")
		if wrong := (*wrongAnswer)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("%q: %w", text[:min(len(text), 2000)], err)
		}
		if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%q: neither an answer nor an end", text[:min(len(text), 2000)])
		}
		if err != nil || closed {
			return nil
		}
	}
}

// A wrongAnswer is a response that the server must never send, such as a 500.
type wrongAnswer struct {
	code int
	body string
}

func (w *wrongAnswer) Error() string { return fmt.Sprintf("%d %.500s", w.code, w.body) }

// answer reads one response. The only allowed server errors are 501 and 505 for unknown methods,
// encodings and protocols, and 504 for future resource versions.
func (a *abuser) answer(method string) (closed bool, err error) {
	got, err := http.ReadResponse(a.reader, &http.Request{Method: method})
	if err != nil {
		return true, err
	}
	body, err := io.ReadAll(got.Body)
	a.codes[got.StatusCode]++
	future := got.StatusCode == 504 && bytes.Contains(body, []byte("Too large resource version"))
	if got.StatusCode >= 500 && got.StatusCode != 501 && got.StatusCode != 505 && !future {
		return true, &wrongAnswer{got.StatusCode, string(body)}
	}
	return got.Close || got.StatusCode < 200, err
}

func (a *abuser) dial() (err error) {
	if a.conn == nil {
		if a.conn, err = tls.Dial("tcp", a.host, a.config); err != nil {
			a.conn = nil
			return err
		}
		a.reader = bufio.NewReader(a.conn)
	}
	return a.conn.SetDeadline(time.Now().Add(client.Watchdog))
}

func (a *abuser) hangUp() {
	if a.conn != nil {
		_ = a.conn.Close() // the server may have closed it first
		a.conn = nil
	}
}

// TestMalformedRequests sends random malformed requests, a million of them in a soak test. The
// server must never respond with an internal error. Other clients must not be affected, and no
// resources may leak. The test covers promises 33, 34 and 38 of docs/reliability.md.
func TestMalformedRequests(t *testing.T) {
	const abusers, perRound = 8, 2000
	config := writeConfig(t, "watch-history-time: 2s\nsnapshot-journal-bytes: 4Mi\n")
	p := serveProcess(t, t.TempDir(), "--naming", "kubernetes", config)
	c := p.caller()
	const elsewhere = "/api/v1/namespaces/kube-public/configmaps"
	c.must(t, 201, "POST", elsewhere, `{"metadata":{"name":"bystander"},"data":{"n":"1"}}`)
	c.must(t, 201, "POST", deployments, deployment)
	before := c.must(t, 200, "GET", elsewhere+"/bystander", "")
	var all []*abuser
	seed := client.Seed(t, 1)
	for i := range abusers {
		known := adminTLS(t, p.dir)
		known.ServerName, known.ClientSessionCache = "localhost", tls.NewLRUClientSessionCache(4)
		if i == 0 {
			known.Certificates = nil
		}
		all = append(all, &abuser{random: rand.New(rand.NewPCG(seed, uint64(i))), host: strings.TrimPrefix(p.URL, "https://"), config: known, codes: map[int]int{}})
	}
	sent, early, late := 0, 0, 0
	for n := range client.Rounds(t, 3, 1) {
		var running sync.WaitGroup
		for _, a := range all {
			running.Go(func() {
				for range perRound / abusers {
					if err := a.abuse(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		running.Wait()
		if sent += perRound; t.Failed() {
			t.Fatalf("after %d requests", sent)
		}
		if late = p.memory("RssAnon"); n < 10 {
			early = max(early, late) // memory for this many concurrent connections
		}
	}
	codes := map[int]int{}
	for _, a := range all {
		a.hangUp()
		for code, n := range a.codes {
			codes[code] += n
		}
	}
	if after := c.must(t, 200, "GET", elsewhere+"/bystander", ""); after != before {
		t.Errorf("an unrelated object has changed: %s, was %s", after, before)
	}
	if codes[400] == 0 || codes[401]+codes[403] == 0 || codes[404] == 0 || codes[200] == 0 {
		t.Errorf("the status codes are too uniform to be meaningful: %v", codes)
	}
	if late > early+64*mebibyte {
		t.Errorf("%d MiB are in use after %d requests, %d MiB were at the beginning", late/mebibyte, sent, early/mebibyte)
	}
	eventually(t, "the connections are gone", func() bool { return c.metric(t, "troupe_connections") <= 2 })
	client.Figures(t, "%d malformed requests, answered %v; %d MiB at the beginning, %d MiB at the end", sent, codes, early/mebibyte, late/mebibyte)
}
