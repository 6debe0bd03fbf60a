package dev.warmpath.router.security;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Makes keys, hashes them, and finds them in requests. Keys are long random texts, so one round of
 * SHA-256 keeps them.
 */
public final class Secrets {

  private static final int KEY_BYTES = 32;
  private static final String PREFIX = "wpk-";
  private static final String BEARER = "Bearer ";

  private Secrets() {}

  /** A new key: 256 random bits. */
  public static String fresh() {
    byte[] bytes = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(bytes);
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** The hash of a key as the file of keys holds it. */
  public static String hash(String key) {
    return HexFormat.of().formatHex(sha256(key));
  }

  static byte[] sha256(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }

  /** The key of an {@code Authorization} header; null if it holds none. */
  public static @Nullable String bearer(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      return null;
    }
    String key = authorization.substring(BEARER.length()).strip();
    return key.isEmpty() ? null : key;
  }
}
