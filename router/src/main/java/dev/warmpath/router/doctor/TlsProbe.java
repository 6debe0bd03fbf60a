package dev.warmpath.router.doctor;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Reads a server's certificate, whoever signed it: whether it is trusted shows when the replica is
 * asked. Nothing is sent to the server.
 */
final class TlsProbe {

  private static final int DEFAULT_PORT = 443;

  private TlsProbe() {}

  /** The certificate of an {@code https} address; null if it has none, or shows none in time. */
  static @Nullable TlsFacts read(URI url, Duration timeout) {
    if (!"https".equals(url.getScheme())) {
      return null;
    }
    int port = url.getPort() < 0 ? DEFAULT_PORT : url.getPort();
    int millis = (int) timeout.toMillis();
    try (Socket plain = new Socket()) {
      plain.connect(new InetSocketAddress(url.getHost(), port), millis);
      plain.setSoTimeout(millis);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new AnyCertificate()}, null);
      try (SSLSocket socket =
          (SSLSocket) context.getSocketFactory().createSocket(plain, url.getHost(), port, true)) {
        socket.startHandshake();
        X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
        return new TlsFacts(
            shown.getSubjectX500Principal().getName(), shown.getNotAfter().toInstant());
      }
    } catch (IOException | GeneralSecurityException e) {
      return null;
    }
  }

  /** Lets the handshake go on with any certificate. */
  private static final class AnyCertificate extends X509ExtendedTrustManager {

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
