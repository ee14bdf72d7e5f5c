"""A Redis with TLS and users, from Debian's package (the embedded wheel is built without TLS)."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import tempfile
import time
from ipaddress import ip_address
from pathlib import Path

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.helpers_s3 import free_port

PASSWORD = "a-password-nobody-may-see"
ACL = Path(__file__).resolve().parents[1] / "deploy" / "valkey" / "users.acl.example"


def authority(folder: Path, name: str) -> tuple[Path, x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate authority: its file, certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = _builder(subject, subject, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    usage = x509.KeyUsage(*(use in (5, 6) for use in range(9)))  # signs certificates and lists of revoked ones
    signed = made.add_extension(usage, critical=True).sign(key, hashes.SHA256())
    path = folder / f"{name}.pem"
    path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return path, signed, key


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
    )


class TlsServer:
    """One server: TLS on a port, the users of deploy/valkey/users.acl.example with a password of the test."""

    def __init__(self) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            reason = "no redis-server with TLS: apt-get install redis-server"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        self.folder = Path(tempfile.mkdtemp(prefix="tls"))
        self.port = free_port()
        self.ca, certificate, key = authority(self.folder, "ca")
        self._make_server_certificate(certificate, key)
        users = self.folder / "users.acl"
        users.write_text(ACL.read_text().replace("PASSWORD", PASSWORD))
        tls = [
            "--tls-port",
            str(self.port),
            "--port",
            "0",
            "--tls-auth-clients",
            "no",
            "--tls-ca-cert-file",
            str(self.ca),
        ]
        own = ["--tls-cert-file", str(self.folder / "server.pem"), "--tls-key-file", str(self.folder / "server.key")]
        kept = ["--dir", str(self.folder), "--appendonly", "yes", "--save", "", "--aclfile", str(users)]
        log = ["--logfile", str(self.folder / "log"), "--maxmemory-policy", "noeviction"]
        self._process = subprocess.Popen([binary, *tls, *own, *kept, *log], stdout=subprocess.DEVNULL)
        self._wait()

    def url(self, user: str = "worker", *, ca: Path | None = None, scheme: str = "rediss") -> str:
        query = f"?ssl_ca_certs={ca or self.ca}" if scheme == "rediss" else ""
        return f"{scheme}://{user}:{PASSWORD}@127.0.0.1:{self.port}/0{query}"

    def client(self, user: str) -> redis.Redis:
        return redis.Redis.from_url(self.url(user))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_server_certificate(self, ca: x509.Certificate, ca_key: ec.EllipticCurvePrivateKey) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
        now = dt.datetime.now(dt.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(ca.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(names, critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
            .sign(ca_key, hashes.SHA256())
        )
        (self.folder / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self.folder / "server.key").write_bytes(text)

    def _wait(self) -> None:
        deadline_s = time.monotonic() + 15
        while True:
            try:
                with self.client("worker") as client:
                    client.ping()
            except redis.RedisError:
                if time.monotonic() > deadline_s or self._process.poll() is not None:
                    raise
                time.sleep(0.05)
            else:
                return
