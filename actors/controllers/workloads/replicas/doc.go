// Package replicas keeps a number of equal Pods for each ReplicaSet and each ReplicationController. Both kinds are the
// same but for their selector; the code knows them as sets.
//
// In one turn a set claims its Pods, creates up to 500 that are missing or deletes as many that are too many, and writes
// its status if that says anything new. What is created comes in batches that double while all goes well, so that a
// set that may create nothing asks once and not 500 times. Which Pods are deleted first is said by ranking (rank.go).
package replicas
