package dev.warmpath.router.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** An authority that issues certificates for tests. */
public final class Certificates {

  private static final AtomicLong SERIAL = new AtomicLong(1);
  private static final char[] NO_PASSWORD = new char[0];
  private static final Duration LONG = Duration.ofDays(1);

  /** A certificate and its key. */
  public record Issued(X509Certificate certificate, PrivateKey key) {

    public String certificatePem() throws GeneralSecurityException {
      return pem("CERTIFICATE", certificate.getEncoded());
    }

    public String keyPem() {
      return pem("PRIVATE KEY", key.getEncoded());
    }

    private static String pem(String kind, byte[] der) {
      String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
      return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
    }
  }

  private final Issued authority;

  public Certificates() {
    KeyPair pair = pair();
    this.authority =
        new Issued(sign("CN=authority", pair, pair.getPrivate(), true, LONG), pair.getPrivate());
  }

  /** A certificate for these addresses. */
  public Issued issue(String... addresses) {
    return issue(LONG, addresses);
  }

  /** One that ends so long after now. */
  public Issued issue(Duration until, String... addresses) {
    KeyPair pair = pair();
    return new Issued(
        sign("CN=leaf", pair, authority.key, false, until, addresses), pair.getPrivate());
  }

  /** Writes the authority's own certificate. */
  public Path writeTo(Path file) throws IOException, GeneralSecurityException {
    return replace(file, authority.certificatePem());
  }

  /** Writes a file so that it is there as a whole. */
  public static Path replace(Path file, String text) {
    try {
      Path fresh = file.resolveSibling(file.getFileName() + ".fresh");
      Files.writeString(fresh, text);
      return Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a client needs that trusts this authority, and shows {@code own} unless it is null. */
  public SSLContext client(Issued own) throws GeneralSecurityException, IOException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("authority", authority.certificate);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    KeyManagerFactory keys = null;
    if (own != null) {
      KeyStore shown = KeyStore.getInstance("PKCS12");
      shown.load(null, null);
      shown.setKeyEntry("own", own.key, NO_PASSWORD, new X509Certificate[] {own.certificate});
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(shown, NO_PASSWORD);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private static KeyPair pair() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static X509Certificate sign(
      String subject, KeyPair pair, PrivateKey by, boolean ca, Duration until, String... names) {
    Instant now = Instant.now();
    try {
      X509v3CertificateBuilder builder =
          new JcaX509v3CertificateBuilder(
              new X500Name("CN=authority"),
              BigInteger.valueOf(SERIAL.getAndIncrement()),
              Date.from(now.minus(Duration.ofDays(2))),
              Date.from(now.plus(until)),
              new X500Name(subject),
              pair.getPublic());
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(ca));
      if (names.length > 0) {
        GeneralName[] general =
            Stream.of(names).map(Certificates::name).toArray(GeneralName[]::new);
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(general));
      }
      return new JcaX509CertificateConverter()
          .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(by)));
    } catch (GeneralSecurityException | OperatorCreationException | CertIOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static GeneralName name(String text) {
    int kind = text.matches("[0-9.]+") ? GeneralName.iPAddress : GeneralName.dNSName;
    return new GeneralName(kind, text);
  }
}
