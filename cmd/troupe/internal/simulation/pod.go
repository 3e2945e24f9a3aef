package simulation

import (
	"encoding/json"
	"strconv"
	"time"
)

// A Pod contains the status and the API fields that a node reads. It omits other fields, because
// one process may hold 100,000 Pods.
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

// Metadata contains the object metadata that the simulation reads.
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

// A Container is a regular, init or ephemeral container.
type Container struct {
	Name          string   `json:"name"`
	Image         string   `json:"image"`
	Command       []string `json:"command"`
	Args          []string `json:"args"`
	RestartPolicy string   `json:"restartPolicy"` // "Always" makes an init container a sidecar
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

// A Probe is a container probe. The simulation reads only its initial delay and its command.
type Probe struct {
	InitialDelaySeconds int64 `json:"initialDelaySeconds"`
	Exec                *struct {
		Command []string `json:"command"`
	} `json:"exec"`
}

// PodStatus contains the status fields that nodes write.
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

// An IP is an item of podIPs or hostIPs.
type IP struct {
	IP string `json:"ip"`
}

// A Condition is a condition of a Pod or a Node.
type Condition struct {
	Type               string     `json:"type"`
	Status             string     `json:"status"`
	ObservedGeneration int64      `json:"observedGeneration,omitempty"`
	Reason             string     `json:"reason,omitempty"`
	Message            string     `json:"message,omitempty"`
	LastHeartbeatTime  *time.Time `json:"lastHeartbeatTime,omitempty"`
	LastTransitionTime time.Time  `json:"lastTransitionTime,omitzero"`
}

// ContainerStatus is the status of one container.
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

// ContainerState has exactly one field set.
type ContainerState struct {
	Waiting    *Waiting    `json:"waiting,omitempty"`
	Running    *Running    `json:"running,omitempty"`
	Terminated *Terminated `json:"terminated,omitempty"`
}

// Waiting describes a container that waits to start or restart.
type Waiting struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Running describes a container while it runs.
type Running struct {
	StartedAt time.Time `json:"startedAt"`
}

// Terminated describes a container that has ended.
type Terminated struct {
	ExitCode    int       `json:"exitCode"`
	Reason      string    `json:"reason,omitempty"`
	StartedAt   time.Time `json:"startedAt"`
	FinishedAt  time.Time `json:"finishedAt"`
	ContainerID string    `json:"containerID,omitempty"`
}

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

func (m *Metadata) version() uint64 {
	v, _ := strconv.ParseUint(m.ResourceVersion, 10, 64) // the API has decimal versions
	return v
}

func (p *Pod) terminating() bool { return p.Metadata.DeletionTimestamp != nil }

func (p *Pod) ended() bool { return p.Status.Phase == succeeded || p.Status.Phase == failed }

func (p *Pod) ofJob() bool {
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller && o.Kind == "Job" {
			return true
		}
	}
	return false
}

// initializes reports whether c is an init container that must end before others start, unlike a
// sidecar.
func (p *Pod) initializes(c *Container) bool {
	for i := range p.Spec.InitContainers {
		if p.Spec.InitContainers[i].Name == c.Name {
			return c.RestartPolicy != "Always"
		}
	}
	return false
}

// container returns the named container and its status, or nil.
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

func statusOf(statuses []ContainerStatus, name string) *ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}
