PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "active_storage_blobs" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "key" varchar NOT NULL, "filename" varchar NOT NULL, "content_type" varchar, "metadata" text, "service_name" varchar NOT NULL, "byte_size" integer NOT NULL, "checksum" varchar, "created_at" datetime NOT NULL);
INSERT INTO active_storage_blobs VALUES(1,'abcdef0123456789abcdefghij12','résumé ''final''.txt','text/plain','{"identified":true,"analyzed":true}','local',20,'Oe3CrSZ90l//btYTmR7AtQ==','2026-08-01 10:03:30');
INSERT INTO active_storage_blobs VALUES(2,'zz9876543210zyxwvutsrqpong34','data.bin','application/octet-stream','{"identified":true,"analyzed":true}','local',1024,'suqff86oMaSmOyE/QaiFWw==','2026-08-01 10:03:30');
CREATE TABLE IF NOT EXISTS "file_pushes" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "expire_after_days" integer, "expire_after_views" integer, "expired" boolean DEFAULT 0, "url_token" varchar, "user_id" integer, "deleted" boolean DEFAULT 0, "deletable_by_viewer" boolean DEFAULT 1, "retrieval_step" boolean DEFAULT 0, "expired_on" datetime, "payload_ciphertext" text(16777215), "note_ciphertext" text, "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL, "passphrase_ciphertext" text(2048), "name" varchar);
INSERT INTO file_pushes VALUES(1,7,5,0,'old-file-0000',1,0,1,0,NULL,'u/ordtsnmwUQsiR7AB+Levdxqwwa3Q8PHSeoklsI5tISmFCqyDA=','','2026-08-01 10:01:30.123456','2026-08-01 10:01:30.123456','YVf3C7nrsIDMYnD0IpybG32mK4C6l30ITgGvj6Oxoes=','');
CREATE TABLE IF NOT EXISTS "passwords" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "expire_after_days" integer, "expire_after_views" integer, "expired" boolean DEFAULT 0, "url_token" varchar, "created_at" datetime, "updated_at" datetime, "user_id" integer, "deleted" boolean DEFAULT 0, "deletable_by_viewer" boolean DEFAULT 1, "retrieval_step" boolean DEFAULT 0, "expired_on" datetime, "payload_ciphertext" text(16777215), "note_ciphertext" text, "passphrase_ciphertext" text(2048), "name" varchar);
INSERT INTO passwords VALUES(1,7,5,0,'old-text-0000','2026-08-01 10:01:30.123456','2026-08-01 10:01:30.123456',1,0,1,0,NULL,'oUF8T/f4YaMG47drjrunL3HuAl8//FrCDrwD6Drj13CqbhdAUekj','','','');
INSERT INTO passwords VALUES(2,7,5,1,'old-gone-0000','2026-08-01 10:02:30.123456','2026-08-01 10:02:30.123456',NULL,1,1,0,'2026-08-01 10:09:30.123456',NULL,'',NULL,'');
CREATE TABLE IF NOT EXISTS "solid_queue_jobs" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "queue_name" varchar NOT NULL, "class_name" varchar NOT NULL, "arguments" text, "priority" integer DEFAULT 0 NOT NULL, "active_job_id" varchar, "scheduled_at" datetime, "finished_at" datetime, "concurrency_key" varchar, "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_pauses" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "queue_name" varchar NOT NULL, "created_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_processes" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "kind" varchar NOT NULL, "last_heartbeat_at" datetime NOT NULL, "supervisor_id" bigint, "pid" integer NOT NULL, "hostname" varchar, "metadata" text, "created_at" datetime NOT NULL, "name" varchar NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_recurring_tasks" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "key" varchar NOT NULL, "schedule" varchar NOT NULL, "command" varchar(2048), "class_name" varchar, "arguments" text, "queue_name" varchar, "priority" integer DEFAULT 0, "static" boolean DEFAULT 1 NOT NULL, "description" text, "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_semaphores" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "key" varchar NOT NULL, "value" integer DEFAULT 1 NOT NULL, "expires_at" datetime NOT NULL, "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "urls" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "expire_after_days" integer, "expire_after_views" integer, "expired" boolean DEFAULT 0, "url_token" varchar, "user_id" integer, "deleted" boolean DEFAULT 0, "retrieval_step" boolean DEFAULT 0, "expired_on" datetime, "payload_ciphertext" text(2097152), "note_ciphertext" text, "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL, "passphrase_ciphertext" text(2048), "name" varchar);
INSERT INTO urls VALUES(1,7,5,0,'old-url-00000',2,0,0,NULL,'QonVid17JnL8kezjmkti2AT8+o5fEH1SWT7azZCifhgeNPa5JpRfmdejDb4vIBYq','','2026-08-01 10:01:30.123456','2026-08-01 10:01:30.123456','','');
CREATE TABLE IF NOT EXISTS "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar DEFAULT '' NOT NULL, "encrypted_password" varchar DEFAULT '' NOT NULL, "reset_password_token" varchar, "reset_password_sent_at" datetime, "remember_created_at" datetime, "sign_in_count" integer DEFAULT 0, "current_sign_in_at" datetime, "last_sign_in_at" datetime, "current_sign_in_ip" varchar, "last_sign_in_ip" varchar, "created_at" datetime, "updated_at" datetime, "admin" boolean DEFAULT 0, "failed_attempts" integer DEFAULT 0, "unlock_token" varchar, "locked_at" datetime, "confirmation_token" varchar, "confirmed_at" datetime, "confirmation_sent_at" datetime, "unconfirmed_email" varchar, "authentication_token" varchar(30), "preferred_language" varchar);
INSERT INTO users VALUES(1,'ann@example.com','$2a$04$YYXLLhohu3ZfUzPvQWpFZOvlVvy1x4Auq02jk69qjU5ymQAP27YM6',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'2026-08-01 10:00:30','2026-08-01 10:01:30',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'Zx_9yQm3v-8TfLkWcRbP','de');
INSERT INTO users VALUES(2,'o''hara@example.com','$2a$04$qTS7Y9l5iR71mTebys2AUujUjKF0XB73zyv7Ro3s.pnCKC8xgzc9W',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'2026-08-01 10:02:30','2026-08-01 10:02:30',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE IF NOT EXISTS "views" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "password_id" integer, "ip" varchar, "user_agent" varchar, "referrer" varchar, "successful" boolean, "created_at" datetime, "updated_at" datetime, "kind" integer DEFAULT 0, "user_id" integer, "file_push_id" integer, "url_id" integer);
INSERT INTO views VALUES(1,1,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,1,'2026-08-01 10:10:30.123456','2026-08-01 10:10:30.123456',0,NULL,NULL,NULL);
INSERT INTO views VALUES(2,1,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,0,'2026-08-01 10:11:30.123456','2026-08-01 10:11:30.123456',0,NULL,NULL,NULL);
INSERT INTO views VALUES(3,2,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,1,'2026-08-01 10:12:30.123456','2026-08-01 10:12:30.123456',1,NULL,NULL,NULL);
INSERT INTO views VALUES(4,NULL,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,1,'2026-08-01 10:13:30.123456','2026-08-01 10:13:30.123456',0,NULL,1,NULL);
INSERT INTO views VALUES(5,NULL,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,1,'2026-08-01 10:14:30.123456','2026-08-01 10:14:30.123456',0,NULL,NULL,1);
INSERT INTO views VALUES(6,NULL,'203.0.113.9','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL,NULL,'2026-08-01 10:15:30.123456','2026-08-01 10:15:30.123456',2,NULL,NULL,1);
CREATE TABLE IF NOT EXISTS "active_storage_attachments" ("id" integer NOT NULL PRIMARY KEY, "name" varchar NOT NULL, "record_type" varchar NOT NULL, "record_id" integer NOT NULL, "blob_id" integer NOT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_c3b3935057"
FOREIGN KEY ("blob_id")
  REFERENCES "active_storage_blobs" ("id")
);
INSERT INTO active_storage_attachments VALUES(1,'files','FilePush',1,1,'2026-08-01 10:03:30');
CREATE TABLE IF NOT EXISTS "active_storage_variant_records" ("id" integer NOT NULL PRIMARY KEY, "blob_id" integer NOT NULL, "variation_digest" varchar NOT NULL, CONSTRAINT "fk_rails_993965df05"
FOREIGN KEY ("blob_id")
  REFERENCES "active_storage_blobs" ("id")
);
CREATE TABLE IF NOT EXISTS "solid_queue_blocked_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "queue_name" varchar NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "concurrency_key" varchar NOT NULL, "expires_at" datetime NOT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_4cd34e2228"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_claimed_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "process_id" integer DEFAULT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_9cfe4d4944"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_failed_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "error" text DEFAULT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_39bbc7a631"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_ready_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "queue_name" varchar NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_81fcbd66af"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_recurring_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "task_key" varchar NOT NULL, "run_at" datetime NOT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_318a5533ed"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_scheduled_executions" ("id" integer NOT NULL PRIMARY KEY, "job_id" integer NOT NULL, "queue_name" varchar NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "scheduled_at" datetime NOT NULL, "created_at" datetime NOT NULL, CONSTRAINT "fk_rails_c4316f352d"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
INSERT INTO schema_migrations VALUES('20250515110051');
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
INSERT INTO ar_internal_metadata VALUES('environment','default_env','2026-11-22 21:25:16.236134','2026-11-22 21:25:16.236134');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('users',2);
INSERT INTO sqlite_sequence VALUES('active_storage_blobs',2);
INSERT INTO sqlite_sequence VALUES('passwords',2);
INSERT INTO sqlite_sequence VALUES('file_pushes',1);
INSERT INTO sqlite_sequence VALUES('urls',1);
INSERT INTO sqlite_sequence VALUES('views',6);
CREATE UNIQUE INDEX "index_active_storage_blobs_on_key" ON "active_storage_blobs" ("key");
CREATE UNIQUE INDEX "index_file_pushes_on_url_token" ON "file_pushes" ("url_token");
CREATE INDEX "index_file_pushes_on_user_id" ON "file_pushes" ("user_id");
CREATE UNIQUE INDEX "index_passwords_on_url_token" ON "passwords" ("url_token");
CREATE INDEX "index_passwords_on_user_id" ON "passwords" ("user_id");
CREATE INDEX "index_solid_queue_jobs_on_active_job_id" ON "solid_queue_jobs" ("active_job_id");
CREATE INDEX "index_solid_queue_jobs_on_class_name" ON "solid_queue_jobs" ("class_name");
CREATE INDEX "index_solid_queue_jobs_on_finished_at" ON "solid_queue_jobs" ("finished_at");
CREATE INDEX "index_solid_queue_jobs_for_filtering" ON "solid_queue_jobs" ("queue_name", "finished_at");
CREATE INDEX "index_solid_queue_jobs_for_alerting" ON "solid_queue_jobs" ("scheduled_at", "finished_at");
CREATE UNIQUE INDEX "index_solid_queue_pauses_on_queue_name" ON "solid_queue_pauses" ("queue_name");
CREATE INDEX "index_solid_queue_processes_on_last_heartbeat_at" ON "solid_queue_processes" ("last_heartbeat_at");
CREATE UNIQUE INDEX "index_solid_queue_processes_on_name_and_supervisor_id" ON "solid_queue_processes" ("name", "supervisor_id");
CREATE INDEX "index_solid_queue_processes_on_supervisor_id" ON "solid_queue_processes" ("supervisor_id");
CREATE UNIQUE INDEX "index_solid_queue_recurring_tasks_on_key" ON "solid_queue_recurring_tasks" ("key");
CREATE INDEX "index_solid_queue_recurring_tasks_on_static" ON "solid_queue_recurring_tasks" ("static");
CREATE INDEX "index_solid_queue_semaphores_on_expires_at" ON "solid_queue_semaphores" ("expires_at");
CREATE INDEX "index_solid_queue_semaphores_on_key_and_value" ON "solid_queue_semaphores" ("key", "value");
CREATE UNIQUE INDEX "index_solid_queue_semaphores_on_key" ON "solid_queue_semaphores" ("key");
CREATE UNIQUE INDEX "index_urls_on_url_token" ON "urls" ("url_token");
CREATE INDEX "index_urls_on_user_id" ON "urls" ("user_id");
CREATE UNIQUE INDEX "index_users_on_authentication_token" ON "users" ("authentication_token");
CREATE UNIQUE INDEX "index_users_on_confirmation_token" ON "users" ("confirmation_token");
CREATE UNIQUE INDEX "index_users_on_email" ON "users" ("email");
CREATE UNIQUE INDEX "index_users_on_reset_password_token" ON "users" ("reset_password_token");
CREATE UNIQUE INDEX "index_users_on_unlock_token" ON "users" ("unlock_token");
CREATE INDEX "index_views_on_file_push_id" ON "views" ("file_push_id");
CREATE INDEX "index_views_on_kind" ON "views" ("kind");
CREATE INDEX "index_views_on_password_id" ON "views" ("password_id");
CREATE INDEX "index_views_on_successful" ON "views" ("successful");
CREATE INDEX "index_views_on_url_id" ON "views" ("url_id");
CREATE INDEX "index_active_storage_attachments_on_blob_id" ON "active_storage_attachments" ("blob_id");
CREATE UNIQUE INDEX "index_active_storage_attachments_uniqueness" ON "active_storage_attachments" ("record_type", "record_id", "name", "blob_id");
CREATE UNIQUE INDEX "index_active_storage_variant_records_uniqueness" ON "active_storage_variant_records" ("blob_id", "variation_digest");
CREATE INDEX "index_solid_queue_blocked_executions_for_release" ON "solid_queue_blocked_executions" ("concurrency_key", "priority", "job_id");
CREATE INDEX "index_solid_queue_blocked_executions_for_maintenance" ON "solid_queue_blocked_executions" ("expires_at", "concurrency_key");
CREATE UNIQUE INDEX "index_solid_queue_blocked_executions_on_job_id" ON "solid_queue_blocked_executions" ("job_id");
CREATE UNIQUE INDEX "index_solid_queue_claimed_executions_on_job_id" ON "solid_queue_claimed_executions" ("job_id");
CREATE INDEX "index_solid_queue_claimed_executions_on_process_id_and_job_id" ON "solid_queue_claimed_executions" ("process_id", "job_id");
CREATE UNIQUE INDEX "index_solid_queue_failed_executions_on_job_id" ON "solid_queue_failed_executions" ("job_id");
CREATE UNIQUE INDEX "index_solid_queue_ready_executions_on_job_id" ON "solid_queue_ready_executions" ("job_id");
CREATE INDEX "index_solid_queue_poll_all" ON "solid_queue_ready_executions" ("priority", "job_id");
CREATE INDEX "index_solid_queue_poll_by_queue" ON "solid_queue_ready_executions" ("queue_name", "priority", "job_id");
CREATE UNIQUE INDEX "index_solid_queue_recurring_executions_on_job_id" ON "solid_queue_recurring_executions" ("job_id");
CREATE UNIQUE INDEX "index_solid_queue_recurring_executions_on_task_key_and_run_at" ON "solid_queue_recurring_executions" ("task_key", "run_at");
CREATE UNIQUE INDEX "index_solid_queue_scheduled_executions_on_job_id" ON "solid_queue_scheduled_executions" ("job_id");
CREATE INDEX "index_solid_queue_dispatch_all" ON "solid_queue_scheduled_executions" ("scheduled_at", "priority", "job_id");
COMMIT;
