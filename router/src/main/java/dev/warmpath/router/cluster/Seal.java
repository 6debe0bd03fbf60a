package dev.warmpath.router.cluster;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Makes what routers send each other unreadable, and what others send them void: frames are
 * encrypted and authenticated (AES-256-GCM) with a key that only those make who know the secret.
 *
 * <p>Thread-safe.
 */
final class Seal {

  /*
   *  salt (16) | number (8) | encrypted bytes | tag (16)
   *
   * A process draws a salt when it starts. Its key is made of the secret, the cluster's name and
   * the salt, so no two processes share one, and a number that it uses once makes each frame's
   * nonce: a nonce never comes twice with one key, however long the secret lives.
   *
   * A frame that came before is refused: for each salt the greatest number is kept and which of
   * the 1,024 before it were there; frames overtake each other when a connection is replaced. What
   * is kept of a salt is forgotten after 256 later ones, so a frame recorded before this process
   * started, or very long ago, could be played back once. JGroups numbers its own messages, and
   * those of routers may repeat.
   */

  static final int OVERHEAD = 40;

  private static final int SALT_BYTES = 16;
  private static final int HEAD_BYTES = SALT_BYTES + Long.BYTES;
  private static final int TAG_BITS = 128;
  private static final int SENDERS = 256;
  private static final int WINDOW = 1024;
  private static final String CIPHER = "AES/GCM/NoPadding";

  private static final ThreadLocal<Cipher> CIPHERS = ThreadLocal.withInitial(Seal::cipher);

  private final SecretKeySpec secret;
  private final byte[] name;
  private final byte[] salt = new byte[SALT_BYTES];
  private final SecretKeySpec ownKey;
  private final AtomicLong numbers = new AtomicLong();
  private final Map<ByteBuffer, Sender> senders = new LinkedHashMap<>(16, .75f, true);

  /**
   * @param secret that all who belong together share
   * @param name keeps clusters apart that share a secret
   */
  Seal(String secret, String name) {
    this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
    this.name = ("warmpath cluster 1 " + name + "\n").getBytes(StandardCharsets.UTF_8);
    new SecureRandom().nextBytes(salt);
    this.ownKey = key(salt);
  }

  /** The frame that carries the bytes from the buffer's position to its limit. */
  byte[] close(ByteBuffer plain) {
    try {
      long number = numbers.incrementAndGet();
      ByteBuffer frame = ByteBuffer.allocate(OVERHEAD + plain.remaining());
      frame.put(salt).putLong(number);
      Cipher cipher = CIPHERS.get();
      cipher.init(Cipher.ENCRYPT_MODE, ownKey, nonce(number));
      cipher.doFinal(plain, frame);
      return frame.array();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What a frame carries; null if it is none, of somebody without the secret, or came before. */
  byte @Nullable [] open(byte[] frame, int offset, int length) {
    if (length < OVERHEAD) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(frame, offset, length);
    byte[] sender = new byte[SALT_BYTES];
    from.get(sender);
    long number = from.getLong();
    Sender known = known(ByteBuffer.wrap(sender));
    Sender of = known == null ? new Sender(key(sender)) : known;
    try {
      Cipher cipher = CIPHERS.get();
      cipher.init(Cipher.DECRYPT_MODE, of.key, nonce(number));
      byte[] plain = cipher.doFinal(frame, offset + HEAD_BYTES, length - HEAD_BYTES);
      return isFirst(ByteBuffer.wrap(sender), of, number) ? plain : null;
    } catch (GeneralSecurityException e) {
      return null;
    }
  }

  private synchronized @Nullable Sender known(ByteBuffer sender) {
    return senders.get(sender);
  }

  /** Only who knows the secret takes a place among the senders. */
  private synchronized boolean isFirst(ByteBuffer sender, Sender opened, long number) {
    Sender of = senders.computeIfAbsent(sender, unused -> opened);
    if (senders.size() > SENDERS) {
      senders.remove(senders.keySet().iterator().next());
    }
    return of.isFirst(number);
  }

  private SecretKeySpec key(byte[] ofSalt) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(secret);
      mac.update(name);
      return new SecretKeySpec(mac.doFinal(ofSalt), "AES");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static GCMParameterSpec nonce(long number) {
    return new GCMParameterSpec(TAG_BITS, ByteBuffer.allocate(12).putLong(4, number).array());
  }

  private static Cipher cipher() {
    try {
      return Cipher.getInstance(CIPHER);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A process, and which of its numbers came. Guarded by the seal. */
  private static final class Sender {

    private final SecretKeySpec key;

    /** Bit {@code number % WINDOW} for each of the last numbers. */
    private final long[] came = new long[WINDOW / Long.SIZE];

    private long greatest;

    Sender(SecretKeySpec key) {
      this.key = key;
    }

    boolean isFirst(long number) {
      if (number <= greatest - WINDOW || number <= 0) {
        return false;
      }
      if (number > greatest) {
        long skipped = Math.min(number - greatest, WINDOW);
        for (long next = number - skipped + 1; next <= number; next++) {
          came[word(next)] &= ~bit(next);
        }
        greatest = number;
      }
      boolean isFirst = (came[word(number)] & bit(number)) == 0;
      came[word(number)] |= bit(number);
      return isFirst;
    }

    private static int word(long number) {
      return (int) (number % WINDOW) / Long.SIZE;
    }

    private static long bit(long number) {
      return 1L << (number % Long.SIZE);
    }
  }
}
