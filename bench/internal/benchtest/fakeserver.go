package benchtest

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
	"net"
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

// Main is the TestMain of packages that start processes: it makes the test binary stand in for the server,
// an etcd behind it and the children that the harness starts. A test binary that starts itself again needs no second
// program to be built. It does not return in those roles.
func Main(m *testing.M, child func(args []string, in io.Reader, out io.Writer) (isChild bool, err error)) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		fakeDaemon(os.Args[2:])
		return
	}
	if slices.Contains(os.Args, "--initial-cluster") {
		fakeEtcd(os.Args[1:])
		return
	}
	if isChild, err := child(os.Args[1:], os.Stdin, os.Stdout); isChild {
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// tree is a decoded object. Nothing here knows a kind, so decoded JSON is enough.
type tree = map[string]any

// event is one line of a watch. Clients tell events apart by the line feed that follows each.
type event struct {
	Type   string `json:"type"`
	Object tree   `json:"object"`
}

// Server serves ConfigMaps and namespaces from memory. All handlers but that of watches hold mu for the
// whole request, so requests take turns; a fake need not be fast. Lists are put together from texts, since
// encoding thousands of objects for each would dominate the tests.
type Server struct {
	mu          sync.Mutex
	LastVersion int                        // of the newest event; Fault may read it
	objects     map[string]map[string]tree // by namespace and name
	texts       map[string][]byte          // objects as JSON, by namespace/name
	history     []event
	news        chan struct{} // closed and replaced at every event
	dir         string        // where objects are kept too, if not empty
	token       string        // that requests must bear, if not empty

	Other  func(*http.Request) int // answers what is not below namespaces by a status, if not nil
	Fault  func(*http.Request) int // a status to fail with, or 0
	counts map[string]int          // requests by method
}

// The namespace default exists from the start, as on any server.
func newServer() *Server {
	return &Server{
		objects: map[string]map[string]tree{"default": {}},
		texts:   map[string][]byte{},
		news:    make(chan struct{}),
		counts:  map[string]int{},
		Fault:   func(*http.Request) int { return 0 },
	}
}

// Count is how many requests with a method there were.
func (f *Server) Count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

// ServeHTTP implements http.Handler. /version is open to everybody, for the workload that measures requests
// without credentials. Fault is asked with mu held, so it must not call the server.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	status := f.Fault(r)
	var answer any = tree{"kind": "Status", "message": "no"}
	if status == 0 {
		status, answer = f.answer(r, body)
	}
	text, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// Groups end in .x, so that a workload must look a group up rather than know its domain.
func (f *Server) answer(r *http.Request, body []byte) (int, any) {
	if r.URL.Path == "/apis" {
		return http.StatusOK, json.RawMessage(`{"groups":[{"name":"a.example.com"},{"name":"coordination.x"},{"name":"rbac.authorization.x"},{"name":"authentication.x"},{"name":"apiextensions.x"},{"name":"admissionregistration.x"}]}`)
	}
	if f.Other != nil && !strings.HasPrefix(r.URL.Path, "/api/v1/") {
		return f.Other(r), nil
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces"), "/")[1:]
	object := tree{}
	if len(body) > 0 && decode(body, &object) != nil {
		return http.StatusBadRequest, nil
	}
	switch {
	case len(parts) == 0 && r.Method == http.MethodPost:
		name := object["metadata"].(tree)["name"].(string)
		f.objects[name] = map[string]tree{}
		if f.dir != "" {
			_ = os.WriteFile(filepath.Join(f.dir, name+"_"), nil, 0o600)
		}
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

// The continue token is the position, which is enough where nothing changes between two chunks.
func (f *Server) collection(r *http.Request, namespace string, object tree) (int, any) {
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
	meta, list := tree{"resourceVersion": strconv.Itoa(f.LastVersion)}, []json.RawMessage{}
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

// An apply replaces the object: who owns which field is not what the bench's tests look at. A merge patch
// merges data alone.
func (f *Server) single(r *http.Request, namespace, name string, object tree) (int, any) {
	current := f.objects[namespace][name]
	if r.Method == http.MethodPatch && r.Header.Get("Content-Type") == "application/apply-patch+yaml" {
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

// Closing the channel wakes every watcher, and a new one takes its place.
func (f *Server) store(kind, namespace, name string, object tree) {
	f.LastVersion++
	text, _ := json.Marshal(object)
	f.objects[namespace][name], f.texts[namespace+"/"+name] = object, text
	if f.dir != "" {
		_ = os.WriteFile(filepath.Join(f.dir, namespace+"_"+name), text, 0o600)
	}
	f.history = append(f.history, event{kind, object})
	close(f.news)
	f.news = make(chan struct{})
}

// watch streams the events after a version, with a bookmark in front. The version is an index into the
// history, which begins with the first event. A watch that Fault refuses ends between two events, as a
// connection that breaks.
func (f *Server) watch(w http.ResponseWriter, r *http.Request) {
	cursor, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	inProtobuf := strings.Contains(r.Header.Get("Accept"), "protobuf")
	if !inProtobuf {
		_, _ = io.WriteString(w, `{"type":"BOOKMARK","object":{}}`+"\n")
	}
	for {
		f.mu.Lock()
		events, news, refused := f.history[min(cursor, len(f.history)):], f.news, f.Fault(r)
		cursor = len(f.history)
		f.mu.Unlock()
		if refused != 0 {
			return
		}
		for _, e := range events {
			text, _ := json.Marshal(e)
			text = append(text, '\n')
			if inProtobuf {
				text = frame(e.Object)
			}
			_, _ = w.Write(text)
		}
		w.(http.Flusher).Flush()
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// serve starts the fake over TLS with a client certificate required, and returns the kubeconfig that fits,
// as text. One certificate is the server's, the client's and the CA at once: what is tested is that
// credentials are sent, not that they are checked.
func (f *Server) serve() (*httptest.Server, string) {
	server := httptest.NewUnstartedServer(f)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	certificate := server.TLS.Certificates[0] // httptest's own; the client gets it, too
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

// A kubeconfig holds PEM texts in base64, line feeds included.
func encoded(text []byte) string {
	return base64.StdEncoding.EncodeToString(text)
}

// fakeDaemon is the fake as a process with the daemon's flags; objects survive in the directory. It prints
// a ready line of the daemon's form, after a line of another form, and ends by SIGTERM; --refuse makes a
// daemon that does not start. Objects are files, so that a cold start finds what a killed process has left.
func fakeDaemon(args []string) {
	dir := args[slices.Index(args, "--data-dir")+1]
	objects := dir
	if slices.Contains(args, "--refuse") {
		_, _ = fmt.Fprintln(os.Stderr, "refused to start")
		os.Exit(3)
	}
	if i := slices.Index(args, "--etcd-servers"); i >= 0 {
		dataDir, err := askEtcd(args[i+1])
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		objects = dataDir
	}
	f := newServer()
	f.dir = filepath.Join(objects, "objects")
	_ = os.MkdirAll(dir, 0o700)
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
		if name != "" { // else it is the namespace itself
			f.objects[namespace][name], f.texts[namespace+"/"+name] = object, text
		}
	}
	server, config := f.serve()
	path := filepath.Join(dir, "admin.kubeconfig")
	_ = os.WriteFile(path, []byte(config), 0o600)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Printf("starting\nready on %s, KUBECONFIG=%s\n", server.URL, path)
	<-stop
}

// fakeEtcd listens where an etcd is to serve clients, until it is stopped. All that it tells is how large it is and, for the
// daemons that keep their objects with it, where its data is.
func fakeEtcd(args []string) {
	dir := args[slices.Index(args, "--data-dir")+1]
	l, err := net.Listen("tcp", strings.TrimPrefix(args[slices.Index(args, "--listen-client-urls")+1], "http://"))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/metrics":
				_, _ = io.WriteString(w, "etcd_mvcc_db_total_size_in_use_in_bytes 65536\n")
			default:
				_, _ = io.WriteString(w, dir)
			}
		}))
	}()
	<-stop
	_ = l.Close()
}

// askEtcd asks a fake etcd where its data is.
func askEtcd(url string) (string, error) {
	answer, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	dir, err := io.ReadAll(answer.Body)
	return string(dir), err
}

// Start serves a fake for one test and returns its kubeconfig's path. The server is closed with the
// connections that a test has left open, or Close would wait for them.
func Start(t *testing.T) (*Server, string) {
	t.Helper()
	f := newServer()
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

// Namespaces is how many namespaces there are. A workload must leave only default behind.
func (f *Server) Namespaces() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.objects)
}
