package dev.warmpath.lab.index;

/**
 * The constants of the format: {@code 'W' 'P' 'I' 'X'}, version, records.
 *
 * <pre>
 *  store   0  worker:u32  parent:u64  n:u32  n × (engine hash:u64  local hash:u64)
 *  remove  1  worker:u32  n:u32  n × engine hash:u64
 *  query   2  worker:u32  n:u32  n × local hash:u64
 *  clear   3  worker:u32
 * </pre>
 *
 * All numbers are little endian; a parent of 0 means that the blocks begin a prompt.
 */
final class Wpix {

  /** {@code WPIX} read as a little-endian int. */
  static final int MAGIC = 'W' | 'P' << 8 | 'I' << 16 | 'X' << 24;

  static final int VERSION = 1;
  static final int STORE = 0;
  static final int REMOVE = 1;
  static final int QUERY = 2;
  static final int CLEAR = 3;

  /** The most blocks that one record may have. */
  static final int MAX_BLOCKS = 1 << 20;

  /** The most workers that a file may have. */
  static final int MAX_WORKERS = 1 << 16;

  private Wpix() {}
}
