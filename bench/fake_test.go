package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestMain makes the test binary stand in for the processes that the harness starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		fakeDaemon(os.Args[2:])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == nameFloor {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// tree is a decoded object.
type tree = map[string]any

// event is one line of a watch.
type event struct {
	Type   string `json:"type"`
	Object tree   `json:"object"`
}

// fakeAPI serves ConfigMaps and namespaces from memory.
type fakeAPI struct {
	mu      sync.Mutex
	version int
	objects map[string]map[string]tree // by namespace and name
	texts   map[string][]byte          // objects as JSON, by namespace/name
	history []event
	news    chan struct{} // closed and replaced at every event
	dir     string        // where objects are kept too, if not empty
	token   string        // that requests must bear, if not empty

	other  func(*http.Request) int // answers what is not below namespaces by a status, if not nil
	fault  func(*http.Request) int // a status to fail with, or 0
	counts map[string]int          // requests by method
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		objects: map[string]map[string]tree{"default": {}},
		texts:   map[string][]byte{},
		news:    make(chan struct{}),
		counts:  map[string]int{},
		fault:   func(*http.Request) int { return 0 },
	}
}

func (f *fakeAPI) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		return
	}
	if f.token != "" && r.Header.Get("Authorization") != "Bearer "+f.token {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	if r.URL.Query().Get("watch") == "true" {
		f.watch(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[r.Method]++
	status := f.fault(r)
	var answer any = tree{"kind": "Status", "message": "no"}
	if status == 0 {
		status, answer = f.answer(r, body)
	}
	text, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (f *fakeAPI) answer(r *http.Request, body []byte) (int, any) {
	if r.URL.Path == "/apis" {
		return http.StatusOK, json.RawMessage(`{"groups":[{"name":"a.example.com"},{"name":"coordination.x"},{"name":"rbac.authorization.x"},{"name":"authentication.x"},{"name":"apiextensions.x"}]}`)
	}
	if f.other != nil && !strings.HasPrefix(r.URL.Path, "/api/v1/") {
		return f.other(r), nil
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces"), "/")[1:]
	object := tree{}
	if len(body) > 0 && json.Unmarshal(body, &object) != nil {
		return http.StatusBadRequest, nil
	}
	switch {
	case len(parts) == 0 && r.Method == http.MethodPost:
		f.objects[object["metadata"].(tree)["name"].(string)] = map[string]tree{}
		return http.StatusCreated, object
	case len(parts) == 0 || f.objects[parts[0]] == nil:
		return http.StatusNotFound, nil
	case len(parts) == 1:
		if r.Method == http.MethodDelete {
			delete(f.objects, parts[0])
		}
		return http.StatusOK, tree{"kind": "Namespace"}
	case len(parts) == 2:
		return f.collection(r, parts[0], object)
	default:
		return f.single(r, parts[0], parts[2], object)
	}
}

func (f *fakeAPI) collection(r *http.Request, namespace string, object tree) (int, any) {
	items := f.objects[namespace]
	switch r.Method {
	case http.MethodPost:
		name := object["metadata"].(tree)["name"].(string)
		if items[name] != nil {
			return http.StatusConflict, nil
		}
		f.store("ADDED", namespace, name, object)
		return http.StatusCreated, object
	case http.MethodDelete:
		clear(items)
		return http.StatusOK, nil
	}
	names := slices.Sorted(maps.Keys(items))
	meta, list := tree{"resourceVersion": strconv.Itoa(f.version)}, []json.RawMessage{}
	begin, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	end := len(names)
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && begin+limit < end {
		end = begin + limit
		meta["continue"] = strconv.Itoa(end)
	}
	for _, name := range names[begin:end] {
		list = append(list, f.texts[namespace+"/"+name])
	}
	return http.StatusOK, tree{"kind": "ConfigMapList", "metadata": meta, "items": list}
}

func (f *fakeAPI) single(r *http.Request, namespace, name string, object tree) (int, any) {
	current := f.objects[namespace][name]
	if r.Method == http.MethodPatch && r.Header.Get("Content-Type") == typeApplyPatch {
		f.store("MODIFIED", namespace, name, object)
		return http.StatusOK, object
	}
	if current == nil {
		return http.StatusNotFound, nil
	}
	switch r.Method {
	case http.MethodPatch:
		merged := tree{"metadata": tree{"name": name}, "data": maps.Clone(current["data"].(tree))}
		maps.Copy(merged["data"].(tree), object["data"].(tree))
		object = merged
		fallthrough
	case http.MethodPut:
		f.store("MODIFIED", namespace, name, object)
		return http.StatusOK, object
	case http.MethodDelete:
		delete(f.objects[namespace], name)
	}
	return http.StatusOK, current
}

func (f *fakeAPI) store(kind, namespace, name string, object tree) {
	f.version++
	text, _ := json.Marshal(object)
	f.objects[namespace][name], f.texts[namespace+"/"+name] = object, text
	if f.dir != "" {
		_ = os.WriteFile(filepath.Join(f.dir, namespace+"_"+name), text, 0o600)
	}
	f.history = append(f.history, event{kind, object})
	close(f.news)
	f.news = make(chan struct{})
}

// watch streams the events after a version, with a bookmark in front.
func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request) {
	cursor, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	_, _ = io.WriteString(w, `{"type":"BOOKMARK","object":{}}`+"\n")
	for {
		f.mu.Lock()
		events, news, refused := f.history[min(cursor, len(f.history)):], f.news, f.fault(r)
		cursor = len(f.history)
		f.mu.Unlock()
		if refused != 0 {
			return
		}
		for _, e := range events {
			text, _ := json.Marshal(e)
			_, _ = w.Write(append(text, '\n'))
		}
		w.(http.Flusher).Flush()
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// serve starts the fake over TLS with a client certificate required, and returns the kubeconfig
// that fits, as text.
func (f *fakeAPI) serve() (*httptest.Server, string) {
	certificate, err := selfSigned()
	if err != nil {
		panic(err)
	}
	server := httptest.NewUnstartedServer(f)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	der, _ := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	authority := pemText("CERTIFICATE", certificate.Certificate[0])
	return server, fmt.Sprintf(`
current-context: admin
contexts: [{name: other, context: {cluster: x, user: y}}, {name: admin, context: {cluster: here, user: root}}]
clusters: [{name: here, cluster: {server: "%s", certificate-authority-data: %s}}]
users: [{name: root, user: {token: "%s", client-certificate-data: %s, client-key-data: %s}}]
`, server.URL, encoded(authority), f.token, encoded(authority), encoded(pemText("PRIVATE KEY", der)))
}

func pemText(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encoded(text []byte) string {
	return base64.StdEncoding.EncodeToString(text)
}

// fakeDaemon is the fake as a process with the daemon's flags; objects survive in the directory.
func fakeDaemon(args []string) {
	dir := args[slices.Index(args, "--data-dir")+1]
	if slices.Contains(args, "--refuse") {
		_, _ = fmt.Fprintln(os.Stderr, "refused to start")
		os.Exit(3)
	}
	f := newFakeAPI()
	f.dir = filepath.Join(dir, "objects")
	_ = os.MkdirAll(f.dir, 0o700)
	entries, _ := os.ReadDir(f.dir)
	for _, entry := range entries {
		namespace, name, _ := strings.Cut(entry.Name(), "_")
		text, _ := os.ReadFile(filepath.Join(f.dir, entry.Name()))
		object := tree{}
		_ = json.NewDecoder(bytes.NewReader(text)).Decode(&object)
		if f.objects[namespace] == nil {
			f.objects[namespace] = map[string]tree{}
		}
		f.objects[namespace][name], f.texts[namespace+"/"+name] = object, text
	}
	server, config := f.serve()
	path := filepath.Join(dir, "admin.kubeconfig")
	_ = os.WriteFile(path, []byte(config), 0o600)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Printf("starting\nready on %s, KUBECONFIG=%s\n", server.URL, path)
	<-stop
}

// startFake serves a fake for one test and returns its kubeconfig's path.
func startFake(t *testing.T) (*fakeAPI, string) {
	t.Helper()
	f := newFakeAPI()
	f.token = "sesame"
	server, config := f.serve()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return f, path
}

// session is for a fake, with bounds that end quickly.
func session(t *testing.T, kubeconfig string) *Session {
	t.Helper()
	s := &Session{Note: func(format string, args ...any) { t.Logf(format, args...) }}
	args := []string{"--kubeconfig", kubeconfig, "--size=64", "--concurrency=4", "--count=24", "--duration=1m",
		"--objects=1100", "--cold-objects=20", "--watchers=5", "--burst=8", "--idle-watchers=6",
		"--binary", os.Args[0], "--settle=1ms", "--scale=0.002", "--temp-dir", t.TempDir()}
	if err := s.parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	target, err := LoadTarget(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout, target.Processes = s.Request, []int{os.Getpid()}
	s.Target = target
	return s
}
