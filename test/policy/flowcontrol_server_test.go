package policy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/flowcontrol/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A flowControlServer is a daemon with 60 seats and the kubernetes naming profile. Authenticated
// users have all permissions.
type flowControlServer struct {
	*client.Server
	config *rest.Config
	typed.FlowcontrolV1Interface
}

func serveFlowControl(t *testing.T, change func(*daemon.Config)) *flowControlServer {
	t.Helper()
	s := &flowControlServer{Server: client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming = "kubernetes"
		c.Authorization.Modes = []string{"AlwaysAllow"}
		c.Serving.MaxRequestsInFlight, c.Serving.MaxMutatingRequestsInFlight = 40, 20
		if change != nil {
			change(c)
		}
	})}
	s.config = must(clientcmd.BuildConfigFromFlags("", s.Kubeconfig()))(t)
	s.config.QPS = -1
	s.FlowcontrolV1Interface = must(kubernetes.NewForConfig(s.config))(t).FlowcontrolV1()
	return s
}

type flowControlAnswer struct {
	code   int
	header http.Header
	body   string
}

// as sends a request as a user, without client-go's retries.
func (s *flowControlServer) as(ctx context.Context, t testing.TB, user, method, path string) flowControlAnswer {
	t.Helper()
	config := rest.CopyConfig(s.config)
	if user != "admin" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
		if strings.HasPrefix(user, "system:node:") {
			config.Impersonate.Groups = []string{"system:nodes", "system:authenticated"}
		}
	}
	c := must(rest.HTTPClientFor(config))(t)
	r := must(http.NewRequestWithContext(ctx, method, s.URL+path, nil))(t)
	resp, err := c.Do(r)
	if err != nil {
		return flowControlAnswer{body: err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return flowControlAnswer{resp.StatusCode, resp.Header, string(body)}
}

const (
	schemaHeader = "X-Kubernetes-PF-FlowSchema-UID"
	levelHeader  = "X-Kubernetes-PF-PriorityLevel-UID"
)

// schemaFor returns a FlowSchema that matches all requests of the given users.
func schemaFor(name, level string, precedence int32, users ...string) *flowcontrolv1.FlowSchema {
	var subjects []flowcontrolv1.Subject
	for _, u := range users {
		subjects = append(subjects, flowcontrolv1.Subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: u}})
	}
	all := []string{"*"}
	return &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level}, MatchingPrecedence: precedence,
			DistinguisherMethod: &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects:         subjects,
				ResourceRules:    []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true}},
				NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
			}},
		},
	}
}

// levelWith returns a priority level with the given concurrency shares. Unless queues is 0, the
// level has queues with the given length limit.
func levelWith(name string, shares, queues, length int32) *flowcontrolv1.PriorityLevelConfiguration {
	response := flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}
	if queues > 0 {
		response = flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: 1, QueueLengthLimit: length}}
	}
	return &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: ptr.To(shares), BorrowingLimitPercent: ptr.To(int32(0)), LimitResponse: response,
			},
		},
	}
}

func eventually(t testing.TB, label string, try func() bool) {
	t.Helper()
	client.Eventually(t, func() error {
		if !try() {
			return fmt.Errorf("%s: not yet", label)
		}
		return nil
	})
}
