package dev.warmpath.router.security;

import dev.warmpath.router.config.FileWatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The key of the admin endpoints. Its file holds it in clear, one key a line, so that the same file
 * serves those that ask; it is read again when it changes.
 *
 * <p>Thread-safe.
 */
public final class AdminKey {

  private static final String CONFIG_KEY = "admin.key-file";
  private static final int SHORTEST = 16;

  private volatile List<byte[]> hashes = List.of();

  private AdminKey() {}

  /**
   * Reads the file, now and when it changes.
   *
   * @throws IOException if it holds no key; the message says so
   */
  public static AdminKey begin(Path file, FileWatch watch) throws IOException {
    AdminKey key = new AdminKey();
    watch.add(CONFIG_KEY, List.of(file), contents -> key.load(file, contents.get(0)));
    return key;
  }

  private void load(Path file, byte[] contents) throws IOException {
    List<String> keys =
        new String(contents, StandardCharsets.UTF_8)
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .toList();
    if (keys.isEmpty() || keys.stream().anyMatch(key -> key.length() < SHORTEST)) {
      throw new IOException(
          file + ": must hold keys, one a line, of at least " + SHORTEST + " characters");
    }
    hashes = keys.stream().map(Secrets::sha256).toList();
  }

  /** Whether it is one of the keys. */
  public boolean accepts(@Nullable String key) {
    if (key == null) {
      return false;
    }
    byte[] hash = Secrets.sha256(key);
    boolean accepted = false;
    for (byte[] known : hashes) {
      accepted |= MessageDigest.isEqual(known, hash);
    }
    return accepted;
  }
}
