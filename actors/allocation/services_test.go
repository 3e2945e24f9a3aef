package allocation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func key(name string) meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: name}
}

func services(t *testing.T, ranges, ports string) *ServiceAllocator {
	t.Helper()
	r := must.Get(ParseRanges(ranges))(t)
	p := must.Get(ParsePortRange(ports))(t)
	return NewServiceAllocator(r, p, key("own"), meta.Platform)
}

func serviceObject(t *testing.T, spec string) tree.Tree {
	t.Helper()
	if spec == "" {
		return nil
	}
	v, _, err := codec.DecodeAny([]byte(`{"spec":{` + spec + `}}`))
	must.Succeed(t, err)
	return v.(tree.Tree)
}

func allocateAndCommit(t *testing.T, s *ServiceAllocator, name string, old, want tree.Tree) []string {
	t.Helper()
	c, causes := s.Allocate(key(name), old, want)
	if c != nil {
		c.Commit()
	}
	var texts []string
	for _, cause := range causes {
		texts = append(texts, cause.Field+": "+cause.Message)
	}
	return texts
}

// allocatedText formats the allocated values as "value=owner". It omits the API server's address.
func allocatedText(s *ServiceAllocator) string {
	var all []string
	for label, owners := range s.Allocated() {
		var names []string
		for _, o := range owners {
			if o != key("own") {
				names = append(names, o.Name)
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			all = append(all, label+"="+strings.Join(names, "+"))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func equal(t *testing.T, label, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got  %s\n want %s", label, got, want)
	}
}

func specText(obj tree.Tree) string {
	spec := tree.Tree{}
	for _, name := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"} {
		spec.CopyField(obj.Object("spec"), name)
	}
	var ports []string
	for _, p := range obj.Object("spec").Objects("ports") {
		ports = append(ports, strings.Replace(fmt.Sprint(p["nodePort"]), "<nil>", "none", 1))
	}
	if ports != nil {
		spec["nodePorts"] = ports
	}
	b, _ := json.Marshal(spec)
	return strings.ReplaceAll(string(b), `"`, "")
}

const (
	small = "10.0.0.0/29"            // .2 to .6 are assignable
	dual  = "10.0.0.0/29,fd00::/125" // the same, and ::1 to ::7
	one   = "30000-30000"            // one port
	four  = "30000-30003"            // four ports
)

func TestServices(t *testing.T) {
	for _, c := range cases.Read(t, "testdata/services.txt") {
		texts := map[string]string{}
		var causes []string
		for _, line := range c.Lines {
			name, text, _ := strings.Cut(line, " ")
			texts[name] = text
			if name == "refused" {
				causes = append(causes, text)
			}
		}
		start := func() *ServiceAllocator {
			s := services(t, texts["ranges"], texts["ports"])
			allocateAndCommit(t, s, "other", nil, serviceObject(t, texts["other"]))
			return s
		}
		s, old, want := start(), serviceObject(t, texts["old"]), serviceObject(t, texts["spec"])
		if old != nil {
			s.Observe(key("x"), nil, old)
		}
		before := allocatedText(s)
		equal(t, c.Name, strings.Join(allocateAndCommit(t, s, "x", old, want), "\n"), strings.Join(causes, "\n"))
		if causes != nil {
			equal(t, c.Name+" holds", allocatedText(s), before)
			continue
		}
		equal(t, c.Name, specText(want), texts["=>"])
		fresh := start()
		fresh.Observe(key("x"), nil, want)
		equal(t, c.Name+" holds", allocatedText(s), allocatedText(fresh))
		allocateAndCommit(t, s, "x", want, nil)
		if rest := allocatedText(s); strings.Contains(rest, "=x") {
			t.Errorf("%s: a Service that is gone holds %s", c.Name, rest)
		}
	}
}

const (
	first = `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`
)

func TestAddressesRunOut(t *testing.T) {
	s := services(t, dual, one)
	made := map[string]tree.Tree{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		made[name] = serviceObject(t, `"ipFamilyPolicy":"RequireDualStack"`)
		if causes := allocateAndCommit(t, s, name, nil, made[name]); causes != nil {
			t.Fatal(name, causes)
		}
	}
	if n := len(s.Allocated()); n != 11 {
		t.Errorf("%d addresses are taken: %v", n, s.Allocated())
	}
	before := allocatedText(s)
	equal(t, "full", strings.Join(allocateAndCommit(t, s, "f", nil, serviceObject(t, `"ipFamilyPolicy":"RequireDualStack"`)), ""),
		`spec.clusterIPs: Invalid value: [""]: failed to allocate a serviceIP: range is full`)
	equal(t, "after a refusal", allocatedText(s), before)
	allocateAndCommit(t, s, "c", made["c"], nil)
	again := serviceObject(t, `"type":"ClusterIP"`)
	allocateAndCommit(t, s, "f", nil, again)
	equal(t, "the free address", again.Object("spec").String("clusterIP"), made["c"].Object("spec").String("clusterIP"))
}

// TestPipelinedAllocations checks that a change may acquire a value that an earlier, uncommitted
// change to the same Service releases. Either change may fail.
func TestPipelinedAllocations(t *testing.T) {
	with := func(port int) tree.Tree {
		return serviceObject(t, first+fmt.Sprintf(`,"type":"NodePort","ports":[{"port":1,"nodePort":%d}]`, port))
	}
	for _, landed := range []int{0, 1, 2} {
		s := services(t, small, four)
		allocateAndCommit(t, s, "x", nil, with(30000))
		a, causes := s.Allocate(key("x"), with(30000), with(30001))
		b, more := s.Allocate(key("x"), with(30001), with(30000))
		if len(causes)+len(more) > 0 {
			t.Fatal(causes, more)
		}
		if _, causes := s.Allocate(key("y"), nil, serviceObject(t, `"type":"NodePort","ports":[{"port":1,"nodePort":30000}]`)); len(causes) == 0 {
			t.Error("another Service got a port that may come back")
		}
		for i, c := range []*request.Reservation{a, b} {
			if i < landed {
				c.Commit()
			} else {
				c.Release()
			}
		}
		equal(t, fmt.Sprint(landed, " landed"), allocatedText(s), []string{"10.0.0.5=x 30000=x", "10.0.0.5=x 30001=x", "10.0.0.5=x 30000=x"}[landed])
	}
}

// TestRestore checks that recovery restores the stored values of every Service and reports
// duplicates. A duplicate value is not assigned again until both owners are deleted.
func TestRestore(t *testing.T) {
	s := services(t, small, four)
	old := serviceObject(t, `"type":"NodePort","clusterIP":"10.9.9.9","clusterIPs":["10.9.9.9"],"ports":[{"port":1,"nodePort":30000},{"port":2,"nodePort":80}]`)
	if causes := s.Observe(key("a"), nil, old); causes != nil {
		t.Error(causes)
	}
	causes := s.Observe(key("b"), nil, old)
	if len(causes) != 3 {
		t.Error(causes)
	}
	equal(t, "held", allocatedText(s), "10.9.9.9=a+b 30000=a+b 80=a+b")
	allocateAndCommit(t, s, "a", old, nil)
	if causes := allocateAndCommit(t, s, "c", nil, serviceObject(t, `"type":"NodePort","ports":[{"port":1,"nodePort":30000}]`)); len(causes) != 1 {
		t.Error(causes)
	}
	allocateAndCommit(t, s, "b", old, nil)
	equal(t, "all gone", allocatedText(s), "")
	own := serviceObject(t, `"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"]`)
	if causes := allocateAndCommit(t, s, "own", nil, own); causes != nil {
		t.Error("the service of the API:", causes)
	}
	allocateAndCommit(t, s, "own", own, nil)
	if causes := allocateAndCommit(t, s, "x", nil, own); len(causes) != 1 {
		t.Error("the first address must stay with the API, also when its service is gone")
	}
}

func TestConcurrentAllocations(t *testing.T) {
	s := services(t, "10.0.0.0/27,fd00::/123", "30000-30031")
	want := make([]tree.Tree, 8)
	var running sync.WaitGroup
	for i := range want {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		running.Go(func() {
			var has tree.Tree
			for range 400 {
				has = randomStep(t, s, random, key(fmt.Sprint(i)), has)
			}
			want[i] = has
		})
	}
	running.Wait()
	model := services(t, "10.0.0.0/27,fd00::/123", "30000-30031")
	for i, has := range want {
		if has == nil {
			continue
		}
		if causes := model.Observe(key(fmt.Sprint(i)), nil, has); causes != nil {
			t.Errorf("two have the same: %v", causes)
		}
	}
	equal(t, "taken", allocatedText(s), allocatedText(model))
}

// randomStep commits or aborts a random change to a Service and returns the resulting Service.
func randomStep(t *testing.T, s *ServiceAllocator, random *rand.Rand, owner meta.Key, has tree.Tree) tree.Tree {
	var want tree.Tree
	if has == nil || random.IntN(4) > 0 {
		want = serviceObject(t, []string{
			`"type":"ClusterIP"`, `"type":"ExternalName"`, `"type":"NodePort","ports":[{"port":1},{"port":2}]`,
			`"type":"LoadBalancer","externalTrafficPolicy":"Local","allocateLoadBalancerNodePorts":true,"ports":[{"port":1}]`,
			`"type":"NodePort","ipFamilyPolicy":"PreferDualStack","ports":[{"port":1,"nodePort":30001}]`,
			`"clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]`,
		}[random.IntN(6)])
		if spec, was := want.Object("spec"), has.Object("spec"); was["clusterIPs"] != nil && spec["type"] != "ExternalName" {
			for _, name := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
				spec.CopyField(was, name)
			}
		}
	}
	c, causes := s.Allocate(owner, has, want)
	switch {
	case len(causes) > 0:
	case random.IntN(3) == 0:
		c.Release()
	default:
		c.Commit()
		return want
	}
	return has
}

func TestRanges(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/24": "", "10.0.0.0/16, fd00::/108": "", "fd00::/64": "", "10.0.0.0/29": "",
		"": "not a range", "10.0.0.0": "not a range", "10.0.0.1/24": "bits set beyond", "10.0.0.0/30": "between 8", "fd00::/63": "between 8",
		"10.0.0.0/24,10.1.0.0/24": "at most one", "10.0.0.0/24,fd00::/64,10.1.0.0/24": "at most one",
	} {
		if _, err := ParseRanges(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, valid := range map[string]bool{"30000-32767": true, "1-65535": true, "5-5": true, "": false, "5": false, "0-5": false, "6-5": false, "1-65536": false, "a-b": false} {
		if _, err := ParsePortRange(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
	// pick must prefer addresses above the static band.
	r, _ := ParseRanges("10.0.0.0/24")
	for range 1000 {
		if a, _ := r[0].pick(func(a netip.Addr) bool { return true }); a.Compare(r[0].at(17)) < 0 || !r[0].contains(a) {
			t.Fatal(a)
		}
	}
}
