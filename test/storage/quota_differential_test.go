package storage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresources "k8s.io/component-helpers/resource"

	"github.com/troupe-api/troupe/test/client"
)

// TestPodsAgainstTheOracle creates random Pods, some with a resize in progress. The resource
// requests and limits counted by the quota must equal the results of k8s.io/component-helpers.
func TestPodsAgainstTheOracle(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"pods":"1k","requests.cpu":"1M","limits.cpu":"1M","requests.memory":"1Pi","limits.memory":"1Pi","requests.example.com/gpu":"1M","hugepages-2Mi":"1Pi"}`)
	random := rand.New(rand.NewPCG(client.Seed(t, 4), 2))
	want := corev1.ResourceList{}
	add := func(name string, amounts corev1.ResourceList, of corev1.ResourceName) {
		sum := want[corev1.ResourceName(name)]
		sum.Add(amounts[of])
		want[corev1.ResourceName(name)] = sum
	}
	for i := range 80 {
		answer := n.Send(201, "POST", n.path("pods"), client.JSON, randomPod(random, i))
		if random.IntN(2) == 0 {
			answer = n.Send(200, "PATCH", n.path("pods")+fmt.Sprintf("/p-%d/status", i), client.MergePatch, randomStatus(random))
		}
		var pod corev1.Pod
		client.Decode(t, answer.Body, &pod)
		options := podresources.PodResourcesOptions{UseStatusResources: true}
		requests, limits := podresources.PodRequests(&pod, options), podresources.PodLimits(&pod, options)
		add("requests.cpu", requests, "cpu")
		add("requests.memory", requests, "memory")
		add("limits.cpu", limits, "cpu")
		add("limits.memory", limits, "memory")
		add("requests.example.com/gpu", requests, "example.com/gpu")
		add("hugepages-2Mi", requests, "hugepages-2Mi")
		add("pods", corev1.ResourceList{"pods": resource.MustParse("1")}, "pods")
	}
	client.Eventually(t, func() error {
		a, err := n.Get(n.Ctx, n.path("resourcequotas")+"/q")
		if err != nil {
			return err
		}
		var quota corev1.ResourceQuota
		if err := json.Unmarshal(a.Body, &quota); err != nil {
			return err
		}
		for name, amount := range want {
			if got := quota.Status.Used[name]; got.Cmp(amount) != 0 {
				return fmt.Errorf("%s of %s are used, want %s", got.String(), name, amount.String())
			}
		}
		return nil
	})
}

// randomResources returns random container resources, including cpu and memory.
func randomResources(random *rand.Rand) string {
	cpu, memory := 1+random.IntN(900), 1+random.IntN(500)
	requests := fmt.Sprintf(`"cpu":"%dm","memory":"%dMi"`, cpu, memory)
	limits := fmt.Sprintf(`"cpu":"%dm","memory":"%dMi"`, cpu+random.IntN(900), memory+random.IntN(2)*500)
	if random.IntN(3) == 0 {
		requests, limits = requests+`,"example.com/gpu":"2"`, limits+`,"example.com/gpu":"2"`
	}
	if random.IntN(3) == 0 {
		requests, limits = requests+`,"hugepages-2Mi":"4Mi"`, limits+`,"hugepages-2Mi":"4Mi"`
	}
	return `{"requests":{` + requests + `},"limits":{` + limits + `}}`
}

func randomPod(random *rand.Rand, i int) string {
	containers := func(count int, sidecars bool) string {
		var list []string
		for k := range count {
			restart, prefix := "", "c"
			if sidecars {
				prefix = "i"
				if random.IntN(2) == 0 {
					restart = `"restartPolicy":"Always",`
				}
			}
			list = append(list, fmt.Sprintf(`{"name":"%s%d","image":"i",%s"resources":%s}`, prefix, k, restart, randomResources(random)))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return fmt.Sprintf(`{"metadata":{"name":"p-%d"},"spec":{"initContainers":%s,"containers":%s}}`, i,
		containers(random.IntN(4), true), containers(1+random.IntN(3), false))
}

// randomStatus returns a status for the first container and init container, as a kubelet would
// write it.
func randomStatus(random *rand.Rand) string {
	conditions := []string{``, `{"type":"PodResizePending","status":"True","reason":"Infeasible"}`, `{"type":"PodResizePending","status":"True","reason":"Deferred"}`}
	status := func(name string) string {
		return fmt.Sprintf(`[{"name":%q,"image":"i","imageID":"i","ready":true,"restartCount":0,"allocatedResources":{"cpu":"%dm"},"resources":%s}]`,
			name, 1+random.IntN(900), randomResources(random))
	}
	return `{"status":{"conditions":[` + conditions[random.IntN(3)] + `],"containerStatuses":` + status("c0") + `,"initContainerStatuses":` + status("i0") + `}}`
}
