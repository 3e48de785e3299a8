//go:build !linux

package testkit

// memoryDir returns "": only Linux has a tmpfs at /dev/shm.
func memoryDir() (dir string, remove func()) { return "", func() {} }
