//go:build !linux

package testkit

// memoryDir returns "": no directory in memory is known here.
func memoryDir() (dir string, remove func()) { return "", func() {} }
