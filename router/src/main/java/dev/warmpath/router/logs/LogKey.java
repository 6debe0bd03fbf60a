package dev.warmpath.router.logs;

import dev.warmpath.eventingest.OwnerOnly;
import dev.warmpath.router.config.BoundedRead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that sessions and blocks are hashed with (HMAC-SHA-256, shortened), so that nobody
 * without it can test a guess.
 *
 * <p>Confined to the log's thread.
 */
final class LogKey {

  static final String FILE = "decision-log.key";

  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  private final Mac mac;

  private LogKey(byte[] secret) {
    try {
      mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }

  /** A key that no other process has. */
  static LogKey fresh(RandomGenerator random) {
    return new LogKey(secret(random));
  }

  /**
   * The key of {@code directory}, which is made if it is not there.
   *
   * @throws IOException if the file cannot be read or written, or holds something else
   */
  static LogKey in(Path directory, RandomGenerator random) throws IOException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      write(file, HexFormat.of().formatHex(secret(random)));
    }
    String text = new String(BoundedRead.now(file), StandardCharsets.US_ASCII);
    try {
      byte[] secret = HexFormat.of().parseHex(text.strip());
      if (secret.length == KEY_BYTES) {
        return new LogKey(secret);
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    throw new IOException(file + ": must hold " + 2 * KEY_BYTES + " hexadecimal digits");
  }

  private static byte[] secret(RandomGenerator random) {
    byte[] secret = new byte[KEY_BYTES];
    random.nextBytes(secret);
    return secret;
  }

  /** Writes a file that only its owner can read; it is there as a whole or not at all. */
  private static void write(Path file, String text) throws IOException {
    Path unfinished = file.resolveSibling(FILE + ".tmp");
    Files.deleteIfExists(unfinished);
    try (var channel =
        Files.newByteChannel(
            unfinished,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            OwnerOnly.attributes(unfinished))) {
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
    }
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Names the key without giving it away: logs with the same one can be joined. */
  String id() {
    return HexFormat.of().formatHex(hash("key".getBytes(StandardCharsets.US_ASCII), 4));
  }

  /** Stands for a session; 8 bytes. */
  byte[] session(String session) {
    mac.update((byte) 's');
    return hash(session.getBytes(StandardCharsets.UTF_8), 8);
  }

  /** Stands for a block key. */
  int block(long blockKey) {
    mac.update((byte) 'b');
    return ByteBuffer.wrap(mac.doFinal(ByteBuffer.allocate(8).putLong(blockKey).array())).getInt();
  }

  private byte[] hash(byte[] bytes, int length) {
    return Arrays.copyOf(mac.doFinal(bytes), length);
  }
}
