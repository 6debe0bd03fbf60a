package dev.warmpath.router.security;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;

/** Reads and checks PEM files, so that a wrong one is found before it is used. */
public final class PemFiles {

  private static final String[] KEY_TYPES = {
    "RSA", "EC", "EdDSA", "Ed25519", "Ed448", "RSASSA-PSS"
  };
  private static final byte[] SAMPLE = {1, 2, 3, 4};

  private PemFiles() {}

  /**
   * A certificate with its chain, and its private key.
   *
   * @throws IOException if either cannot be read, or they do not belong together
   */
  public static PemKeyCertOptions keyCert(Vertx vertx, byte[] cert, byte[] key) throws IOException {
    X509Certificate first = certificates(cert).get(0);
    try {
      first.checkValidity();
    } catch (CertificateException e) {
      throw new IOException(
          "the certificate is valid from %s to %s"
              .formatted(first.getNotBefore().toInstant(), first.getNotAfter().toInstant()),
          e);
    }
    PemKeyCertOptions options =
        new PemKeyCertOptions().addCertValue(Buffer.buffer(cert)).addKeyValue(Buffer.buffer(key));
    PrivateKey read;
    try {
      read = privateKey(options.getKeyManagerFactory(vertx).getKeyManagers());
    } catch (Exception e) {
      throw new IOException("the private key cannot be read", e);
    }
    if (!belong(read, first.getPublicKey())) {
      throw new IOException("the private key is not that of the certificate");
    }
    return options;
  }

  /**
   * Certificates of authorities.
   *
   * @throws IOException if there is none
   */
  public static PemTrustOptions trust(byte[] certificates) throws IOException {
    List<X509Certificate> unused = certificates(certificates);
    return new PemTrustOptions().addCertValue(Buffer.buffer(certificates));
  }

  /**
   * The certificates of a file, in its order.
   *
   * @throws IOException if there is none
   */
  public static List<X509Certificate> certificates(byte[] pem) throws IOException {
    List<X509Certificate> found = new ArrayList<>();
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      for (Certificate certificate : factory.generateCertificates(new ByteArrayInputStream(pem))) {
        found.add((X509Certificate) certificate);
      }
    } catch (CertificateException e) {
      throw new IOException("the certificate cannot be read", e);
    }
    if (found.isEmpty()) {
      throw new IOException("there is no certificate in the file");
    }
    return found;
  }

  private static PrivateKey privateKey(KeyManager[] managers) throws GeneralSecurityException {
    for (KeyManager manager : managers) {
      if (manager instanceof X509KeyManager keys) {
        for (String alias : aliases(keys)) {
          return keys.getPrivateKey(alias);
        }
      }
    }
    throw new GeneralSecurityException("no key");
  }

  private static List<String> aliases(X509KeyManager keys) {
    return Stream.of(KEY_TYPES)
        .map(type -> keys.getServerAliases(type, null))
        .filter(aliases -> aliases != null)
        .flatMap(Stream::of)
        .toList();
  }

  private static boolean belong(PrivateKey key, PublicKey certified) {
    try {
      Signature signature = Signature.getInstance(algorithm(key.getAlgorithm()));
      signature.initSign(key);
      signature.update(SAMPLE);
      byte[] signed = signature.sign();
      signature.initVerify(certified);
      signature.update(SAMPLE);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static String algorithm(String key) {
    return switch (key) {
      case "RSA" -> "SHA256withRSA";
      case "EC" -> "SHA256withECDSA";
      default -> key;
    };
  }
}
