package js

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strings"

	"github.com/dop251/goja"
	"github.com/google/uuid"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	cryptoHelper   = "safety.crypto"
	maxRandomBytes = 65536
)

func newHash(name string) func() hash.Hash {
	switch strings.ToUpper(name) {
	case "SHA-1":
		return sha1.New
	case "SHA-256":
		return sha256.New
	case "SHA-384":
		return sha512.New384
	case "SHA-512":
		return sha512.New
	}
	return nil
}

// hmacKey is the Go side of a key object.
type hmacKey struct {
	secret []byte
	hash   func() hash.Hash
	usages map[string]bool
}

func (s *session) cryptoObject() goja.Value {
	obj := s.vm.NewObject()
	s.method(obj, "randomUUID", func(goja.FunctionCall) goja.Value { return s.vm.ToValue(uuid.NewString()) })
	s.method(obj, "getRandomValues", func(call goja.FunctionCall) goja.Value {
		target, ok := call.Argument(0).(*goja.Object)
		if ok {
			_, ok = s.typedArray(target)
		}
		if !ok || strings.HasPrefix(primitiveString(target.GetSymbol(goja.SymToStringTag)), "Float") {
			s.refuse(fault.InvalidInput, cryptoHelper, "typed-array-required", "[crypto] getRandomValues needs a typed array of integers")
		}
		b, ok := s.bytesOf(target)
		if !ok || len(b) > maxRandomBytes {
			s.refuse(fault.InvalidInput, cryptoHelper, "quota-exceeded", "[crypto] getRandomValues fills at most 65,536 bytes at once")
		}
		_, _ = rand.Read(b) // never fails
		return target
	})
	subtle := s.vm.NewObject()
	s.method(subtle, "digest", func(call goja.FunctionCall) goja.Value {
		h := s.hashOf(call.Argument(0))()
		h.Write(s.data(call.Argument(1)))
		return s.dualBytes(h.Sum(nil))
	})
	s.method(subtle, "importKey", s.importKey)
	s.method(subtle, "sign", func(call goja.FunctionCall) goja.Value {
		return s.dualBytes(s.mac(call, "sign", call.Argument(2)))
	})
	s.method(subtle, "verify", func(call goja.FunctionCall) goja.Value {
		want := s.mac(call, "verify", call.Argument(3))
		return s.vm.ToValue(hmac.Equal(want, s.data(call.Argument(2))))
	})
	_ = obj.Set("subtle", subtle)
	return obj
}

func (s *session) dualBytes(b []byte) goja.Value {
	return s.dual(s.bytesValue(b), func() goja.Value { return s.bytesValue(append([]byte(nil), b...)) })
}

// data are the bytes of a view, or the UTF-8 of a string.
func (s *session) data(v goja.Value) []byte {
	if b, ok := s.bytesOf(v); ok {
		return b
	}
	if text, ok := text(v); ok {
		return []byte(text)
	}
	s.refuse(fault.InvalidInput, cryptoHelper, "missing-input", "[crypto] the data must be a typed array, an ArrayBuffer, an array of bytes or a string")
	return nil
}

// algorithmName reads "X" or {name: "X"}.
func algorithmName(v goja.Value) string {
	if obj, ok := v.(*goja.Object); ok && obj.ClassName() != "String" {
		return primitiveString(obj.Get("name"))
	}
	return primitiveString(v)
}

func (s *session) hashOf(v goja.Value) func() hash.Hash {
	h := newHash(algorithmName(v))
	if h == nil {
		s.refuse(fault.InvalidInput, cryptoHelper, "unsupported-algorithm", "[crypto] the hash must be SHA-1, SHA-256, SHA-384 or SHA-512")
	}
	return h
}

func (s *session) importKey(call goja.FunctionCall) goja.Value {
	if call.Argument(0).String() != "raw" {
		s.refuse(fault.InvalidInput, cryptoHelper, "unsupported-format", `[crypto] importKey reads the format "raw" only`)
	}
	if !strings.EqualFold(algorithmName(call.Argument(2)), "HMAC") {
		s.refuse(fault.InvalidInput, cryptoHelper, "unsupported-algorithm", "[crypto] importKey makes HMAC keys only")
	}
	hashName := "SHA-256"
	if alg, ok := call.Argument(2).(*goja.Object); ok {
		if h := alg.Get("hash"); h != nil && !goja.IsUndefined(h) {
			s.hashOf(h)
			hashName = strings.ToUpper(algorithmName(h))
		}
	}
	key := &hmacKey{secret: append([]byte(nil), s.data(call.Argument(1))...), hash: newHash(hashName), usages: map[string]bool{}}
	usages := s.vm.NewArray()
	if list, ok := call.Argument(4).(*goja.Object); ok && s.isArray(list) {
		n := min(lengthOf(list), 8)
		for i := int64(0); i < n; i++ {
			use := orUndefined(list.Get(s.vm.ToValue(i).String())).String()
			key.usages[use] = true
			_ = usages.Set(s.vm.ToValue(i).String(), use)
		}
	} else {
		key.usages["sign"], key.usages["verify"] = true, true
	}
	make := func() *goja.Object {
		obj := s.vm.NewObject()
		alg, inner := s.vm.NewObject(), s.vm.NewObject()
		_ = inner.Set("name", hashName)
		_ = alg.Set("name", "HMAC")
		_ = alg.Set("hash", inner)
		_ = alg.Set("length", len(key.secret)*8)
		_ = obj.Set("type", "secret")
		_ = obj.Set("extractable", false)
		_ = obj.Set("algorithm", alg)
		_ = obj.Set("usages", usages)
		s.hide(obj, key)
		return obj
	}
	return s.dual(make(), func() goja.Value { return make() })
}

func (s *session) mac(call goja.FunctionCall, use string, data goja.Value) []byte {
	if !strings.EqualFold(algorithmName(call.Argument(0)), "HMAC") {
		s.refuse(fault.InvalidInput, cryptoHelper, "unsupported-algorithm", "[crypto] "+use+" knows HMAC only")
	}
	key, ok := s.reveal(call.Argument(1)).(*hmacKey)
	if !ok || !key.usages[use] {
		s.refuse(fault.InvalidInput, cryptoHelper, "invalid-key", "[crypto] "+use+" needs a key from importKey with the usage "+use)
	}
	m := hmac.New(key.hash, key.secret)
	m.Write(s.data(data))
	return m.Sum(nil)
}
