package dev.warmpath.router.tokenize.hub;

import dev.warmpath.router.tokenize.hub.HubHttp.Pieces;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/**
 * A file of which the beginning is there. What comes is written where it belongs, so that a
 * download that was cut goes on from there, in another process too.
 *
 * <p>Thread-safe.
 */
final class PartialFile implements AutoCloseable {

  private static final int SHA256_DIGITS = 64;
  private static final int SHA1_DIGITS = 40;
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{40}|[0-9a-f]{64}");

  private final Path path;
  private final long limitBytes;
  private final LongConsumer grown;
  private final FileChannel channel;
  private long length;
  private int turn;
  private String validator = "";

  /**
   * @param limitBytes more than that is refused
   * @param grown hears the length
   */
  PartialFile(Path path, long limitBytes, LongConsumer grown) throws IOException {
    Files.createDirectories(HubCache.parent(path));
    this.path = path;
    this.limitBytes = limitBytes;
    this.grown = grown;
    this.channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    this.length = channel.size();
  }

  synchronized long length() {
    return length;
  }

  /** The ETag that came with the latest body, or nothing: what is there belongs to it. */
  synchronized String validator() {
    return validator;
  }

  /** Remembers the ETag of the body that comes; a weak one says nothing about bytes. */
  synchronized void validator(String etag) {
    validator = etag.startsWith("W/") ? "" : etag;
  }

  /** Forgets what is there. */
  void clear() throws IOException {
    cut(0);
  }

  private synchronized void cut(long at) throws IOException {
    turn++;
    channel.truncate(at);
    length = at;
    grown.accept(at);
  }

  /** Takes a body that begins at {@code position}, in the place of any before. */
  synchronized Pieces from(long position) throws IOException {
    cut(position);
    int mine = turn;
    return new Pieces(pieces -> write(mine, pieces));
  }

  /** Makes it the whole file {@code to}. */
  void become(Path to) throws IOException {
    channel.force(true);
    HubCache.move(path, to);
  }

  /** Ends writing; late pieces of a body are dropped. Of nothing no file stays. */
  @Override
  public synchronized void close() throws IOException {
    turn++;
    channel.close();
    if (length == 0) {
      Files.deleteIfExists(path);
    }
  }

  private synchronized void write(int mine, List<ByteBuffer> pieces) throws HubFailure {
    if (mine != turn) {
      return;
    }
    try {
      for (ByteBuffer piece : pieces) {
        if (length + piece.remaining() > limitBytes) {
          throw HubFailure.lasting("more than " + limitBytes + " bytes came");
        }
        while (piece.hasRemaining()) {
          length += channel.write(piece, length);
        }
      }
    } catch (HubFailure e) {
      throw e;
    } catch (IOException e) {
      throw HubFailure.lasting(path + " cannot be written: " + e.getMessage());
    }
    grown.accept(length);
  }

  /** Whether it is all of a file of this size, negative if unknown, that the hub names so. */
  boolean holds(long sizeBytes, String etag) throws IOException {
    if (sizeBytes >= 0 && length() != sizeBytes) {
      return false;
    }
    return switch (etag.length()) {
      case SHA256_DIGITS -> !isHash(etag) || etag.equals(hash("SHA-256", ""));
      case SHA1_DIGITS -> !isHash(etag) || etag.equals(gitHash()) || etag.equals(hash("SHA-1", ""));
      default -> true;
    };
  }

  /** Whether a file's ETag says what is in it: the hub has SHA-256 for large files, else Git's. */
  static boolean isHash(String etag) {
    return HASH.matcher(etag).matches();
  }

  private String gitHash() throws IOException {
    return hash("SHA-1", "blob " + length() + "\0");
  }

  private String hash(String algorithm, String before) throws IOException {
    try (InputStream in = Files.newInputStream(path)) {
      MessageDigest digest = MessageDigest.getInstance(algorithm);
      digest.update(before.getBytes(StandardCharsets.US_ASCII));
      byte[] piece = new byte[1 << 16];
      for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
        digest.update(piece, 0, read);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("algorithm=" + algorithm, e);
    }
  }
}
