// Command troupe serves a cluster API from one binary.
package main

func main() {}
