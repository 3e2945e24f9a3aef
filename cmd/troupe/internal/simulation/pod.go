package simulation

import (
	"encoding/json"
	"strconv"
	"time"
)

// A Pod is what a node reads of a Pod, and its status, which the node writes. Everything else of a Pod is left out: there
// may be a hundred thousand of them in one process.
type Pod struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		NodeName              string      `json:"nodeName"`
		HostNetwork           bool        `json:"hostNetwork"`
		RestartPolicy         string      `json:"restartPolicy"`
		ActiveDeadlineSeconds *int64      `json:"activeDeadlineSeconds"`
		InitContainers        []Container `json:"initContainers"`
		Containers            []Container `json:"containers"`
		EphemeralContainers   []Container `json:"ephemeralContainers"`
		ReadinessGates        []struct {
			ConditionType string `json:"conditionType"`
		} `json:"readinessGates"`
	} `json:"spec"`
	Status PodStatus `json:"status"`
}

// Metadata is what is read of the metadata of any object.
type Metadata struct {
	Namespace                  string            `json:"namespace"`
	Name                       string            `json:"name"`
	UID                        string            `json:"uid"`
	ResourceVersion            string            `json:"resourceVersion"`
	Generation                 int64             `json:"generation"`
	DeletionTimestamp          *time.Time        `json:"deletionTimestamp"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds"`
	Annotations                map[string]string `json:"annotations"`
	OwnerReferences            []struct {
		Kind       string `json:"kind"`
		Controller bool   `json:"controller"`
	} `json:"ownerReferences"`
}

// A Container is one of any of the three lists of a Pod.
type Container struct {
	Name          string   `json:"name"`
	Image         string   `json:"image"`
	Command       []string `json:"command"`
	Args          []string `json:"args"`
	RestartPolicy string   `json:"restartPolicy"` // Always makes an init container a sidecar
	Lifecycle     struct {
		PreStop struct {
			Sleep struct {
				Seconds int64 `json:"seconds"`
			} `json:"sleep"`
		} `json:"preStop"`
	} `json:"lifecycle"`
	ReadinessProbe *Probe `json:"readinessProbe"`
	StartupProbe   *Probe `json:"startupProbe"`
	Env            []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

// A Probe is one of which only the time before the first call matters, and the command, if it is one.
type Probe struct {
	InitialDelaySeconds int64 `json:"initialDelaySeconds"`
	Exec                *struct {
		Command []string `json:"command"`
	} `json:"exec"`
}

// PodStatus is the part of a status that a node writes.
type PodStatus struct {
	ObservedGeneration         int64             `json:"observedGeneration,omitempty"`
	Phase                      string            `json:"phase,omitempty"`
	Reason                     string            `json:"reason,omitempty"`
	Message                    string            `json:"message,omitempty"`
	HostIP                     string            `json:"hostIP,omitempty"`
	HostIPs                    []IP              `json:"hostIPs,omitempty"`
	PodIP                      string            `json:"podIP,omitempty"`
	PodIPs                     []IP              `json:"podIPs,omitempty"`
	StartTime                  *time.Time        `json:"startTime,omitempty"`
	Conditions                 []Condition       `json:"conditions,omitempty"`
	InitContainerStatuses      []ContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses          []ContainerStatus `json:"containerStatuses,omitempty"`
	EphemeralContainerStatuses []ContainerStatus `json:"ephemeralContainerStatuses,omitempty"`
}

// An IP is an address in a list of them.
type IP struct {
	IP string `json:"ip"`
}

// A Condition is one of a Pod or of a Node.
type Condition struct {
	Type               string     `json:"type"`
	Status             string     `json:"status"`
	ObservedGeneration int64      `json:"observedGeneration,omitempty"`
	Reason             string     `json:"reason,omitempty"`
	Message            string     `json:"message,omitempty"`
	LastHeartbeatTime  *time.Time `json:"lastHeartbeatTime,omitempty"`
	LastTransitionTime time.Time  `json:"lastTransitionTime,omitzero"`
}

// ContainerStatus is how a container is.
type ContainerStatus struct {
	Name         string         `json:"name"`
	Image        string         `json:"image"`
	ImageID      string         `json:"imageID"`
	ContainerID  string         `json:"containerID,omitempty"`
	Ready        bool           `json:"ready"`
	Started      *bool          `json:"started,omitempty"`
	RestartCount int            `json:"restartCount"`
	State        ContainerState `json:"state"`
	LastState    ContainerState `json:"lastState"`
}

// ContainerState has one of its members.
type ContainerState struct {
	Waiting    *Waiting    `json:"waiting,omitempty"`
	Running    *Running    `json:"running,omitempty"`
	Terminated *Terminated `json:"terminated,omitempty"`
}

// Waiting is a container that is not started yet, or not again.
type Waiting struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Running is a container that runs.
type Running struct {
	StartedAt time.Time `json:"startedAt"`
}

// Terminated is a container that has ended.
type Terminated struct {
	ExitCode    int       `json:"exitCode"`
	Reason      string    `json:"reason,omitempty"`
	StartedAt   time.Time `json:"startedAt"`
	FinishedAt  time.Time `json:"finishedAt"`
	ContainerID string    `json:"containerID,omitempty"`
}

// The phases of a Pod.
const (
	pending   = "Pending"
	running   = "Running"
	succeeded = "Succeeded"
	failed    = "Failed"
)

func decodePod(text json.RawMessage) (*Pod, error) {
	p := new(Pod)
	return p, json.Unmarshal(text, p)
}

func (p *Pod) key() objectKey {
	return objectKey{namespace: p.Metadata.Namespace, name: p.Metadata.Name}
}

// version is the place of a state among those of the same Pod.
func (m *Metadata) version() uint64 {
	v, _ := strconv.ParseUint(m.ResourceVersion, 10, 64) // the API has decimal versions
	return v
}

func (p *Pod) terminating() bool { return p.Metadata.DeletionTimestamp != nil }

// ended tells whether nothing of a Pod runs again.
func (p *Pod) ended() bool { return p.Status.Phase == succeeded || p.Status.Phase == failed }

// ofJob tells whether a Pod is that of a Job, and so is expected to end.
func (p *Pod) ofJob() bool {
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller && o.Kind == "Job" {
			return true
		}
	}
	return false
}

// initializes tells whether a container has to end before others start.
func (p *Pod) initializes(c *Container) bool {
	for i := range p.Spec.InitContainers {
		if p.Spec.InitContainers[i].Name == c.Name {
			return c.RestartPolicy != "Always"
		}
	}
	return false
}

// container is a container of any of the lists, by its name, and its status; nil if there is none.
func (p *Pod) container(name string) (*Container, *ContainerStatus) {
	for _, list := range []struct {
		containers []Container
		statuses   []ContainerStatus
	}{{p.Spec.Containers, p.Status.ContainerStatuses}, {p.Spec.InitContainers, p.Status.InitContainerStatuses}, {p.Spec.EphemeralContainers, p.Status.EphemeralContainerStatuses}} {
		for i := range list.containers {
			if list.containers[i].Name == name {
				return &list.containers[i], statusOf(list.statuses, name)
			}
		}
	}
	return nil, nil
}

// statusOf is the status with a name; nil if there is none.
func statusOf(statuses []ContainerStatus, name string) *ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}
