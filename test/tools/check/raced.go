//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// racedPackages matches the packages of the main module that run with the race detector.
var racedPackages = regexp.MustCompile(`^(actors|actors/(allocation|internal/.+)|actors/controllers(/(internal/reconcile|nodes|policyobjects))?|cmd/troupe/daemon|http|internal/metrics|http/internal/(limits|represent|stream|translate|wire)|persist(/.+)?|policy(/(admission/(admissionpolicy|quota)|audit|authn|authz/rbac|certs|conversion|flowcontrol|webhookclient))?)$`)

// racedTopics and racedTests run with the race detector, because their clients use an in-process
// server concurrently.
var (
	racedTopics = []string{"policy/auth", "storage/watch"}
	racedTests  = []string{"TestLinearizable"}
)

// onEtcd matches the tests that also run with three servers on a shared etcd.
const onEtcd = "^(TestLinearizable|TestCreators|TestEveryWayToCreate|TestManyQuotas|TestQuotaUnderLoad)$"

// suites lists the packages of the test module that contain black-box tests.
var suites = []string{"api", "policy", "extension", "storage", "clients", "cluster"}

// diskTopics need files on a disk. All are in the suite onDisk.
var diskTopics = []string{onDisk + "/crash", onDisk + "/encryption", onDisk + "/process"}

const onDisk = "storage"

var testFunction = regexp.MustCompile(`(?m)^func (Test[A-Z0-9]\w*)\(t \*testing\.T\)`)

// topicTests returns the names of the tests in a topic such as api/apply.
func topicTests(module, topic string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(module, topic+"*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range testFunction.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names, nil
}

func testsOf(module string, topics []string) (names []string, err error) {
	for _, topic := range topics {
		more, err := topicTests(module, topic)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

func only(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }
