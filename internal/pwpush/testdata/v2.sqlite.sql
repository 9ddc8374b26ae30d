PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "active_storage_blobs" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "byte_size" bigint NOT NULL, "checksum" varchar, "content_type" varchar, "created_at" datetime NOT NULL, "filename" varchar NOT NULL, "key" varchar NOT NULL, "metadata" text, "service_name" varchar NOT NULL);
INSERT INTO active_storage_blobs VALUES(1,20,'Oe3CrSZ90l//btYTmR7AtQ==','text/plain','2026-08-01 10:03:30','résumé ''final''.txt','abcdef0123456789abcdefghij12','{"identified":true,"analyzed":true}','local');
INSERT INTO active_storage_blobs VALUES(2,1024,'suqff86oMaSmOyE/QaiFWw==','application/octet-stream','2026-08-01 10:03:30','data.bin','zz9876543210zyxwvutsrqpong34','{"identified":true,"analyzed":true}','local');
CREATE TABLE IF NOT EXISTS "data_migration_statuses" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "completed" boolean DEFAULT 0, "completed_at" datetime, "created_at" datetime NOT NULL, "name" varchar NOT NULL, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "site_settings" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "created_at" datetime NOT NULL, "key" varchar NOT NULL, "updated_at" datetime NOT NULL, "value" text);
CREATE TABLE IF NOT EXISTS "solid_queue_jobs" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "active_job_id" varchar, "arguments" text, "class_name" varchar NOT NULL, "concurrency_key" varchar, "created_at" datetime NOT NULL, "finished_at" datetime, "priority" integer DEFAULT 0 NOT NULL, "queue_name" varchar NOT NULL, "scheduled_at" datetime, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_pauses" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "created_at" datetime NOT NULL, "queue_name" varchar NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_processes" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "created_at" datetime NOT NULL, "hostname" varchar, "kind" varchar NOT NULL, "last_heartbeat_at" datetime NOT NULL, "metadata" text, "name" varchar NOT NULL, "pid" integer NOT NULL, "supervisor_id" bigint);
CREATE TABLE IF NOT EXISTS "solid_queue_recurring_tasks" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "arguments" text, "class_name" varchar, "command" varchar(2048), "created_at" datetime NOT NULL, "description" text, "key" varchar NOT NULL, "priority" integer DEFAULT 0, "queue_name" varchar, "schedule" varchar NOT NULL, "static" boolean DEFAULT 1 NOT NULL, "updated_at" datetime NOT NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_semaphores" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "created_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "key" varchar NOT NULL, "updated_at" datetime NOT NULL, "value" integer DEFAULT 1 NOT NULL);
CREATE TABLE IF NOT EXISTS "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "admin" boolean DEFAULT 0, "authentication_token" varchar(30), "confirmation_sent_at" datetime, "confirmation_token" varchar, "confirmed_at" datetime, "created_at" datetime, "current_sign_in_at" datetime, "current_sign_in_ip" varchar, "email" varchar DEFAULT '' NOT NULL, "email_sent_count" integer DEFAULT 0 NOT NULL, "email_sent_count_reset_at" datetime, "encrypted_password" varchar DEFAULT '' NOT NULL, "failed_attempts" integer DEFAULT 0, "last_otp_timestep" integer, "last_sign_in_at" datetime, "last_sign_in_ip" varchar, "locked_at" datetime, "otp_backup_code_digests" text, "otp_required_for_login" boolean, "otp_secret_ciphertext" text, "preferred_language" varchar, "remember_created_at" datetime, "reset_password_sent_at" datetime, "reset_password_token" varchar, "sign_in_count" integer DEFAULT 0, "unconfirmed_email" varchar, "unlock_token" varchar, "updated_at" datetime);
INSERT INTO users VALUES(1,1,'Zx_9yQm3v-8TfLkWcRbP',NULL,NULL,NULL,'2026-08-01 10:00:30',NULL,NULL,'ann@example.com',0,NULL,'$2a$04$cHIwhe40rK/vuI6crVLBT.OpcUOxNLSmqcgpLshvcClDPmWyZtSH.',0,1785578430,NULL,NULL,NULL,'["00ff"]',1,'IhMw27bEed0oLs2M0N6c1XlG5tMghLa+DOkpleYLjoBBvfoEpiwBu90hlUg=','de',NULL,NULL,NULL,0,NULL,NULL,'2026-08-01 10:01:30');
INSERT INTO users VALUES(2,0,NULL,NULL,NULL,NULL,'2026-08-01 10:02:30',NULL,NULL,'o''hara@example.com',0,NULL,'$2a$04$2G2G7gfeyCpzzNxpzkmvy.2QtVY7hkPM9jJZwG9m1UBBFvm2QaR6G',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,'2026-08-01 10:02:30');
CREATE TABLE IF NOT EXISTS "views" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "created_at" datetime, "file_push_id" integer, "ip" varchar, "kind" integer DEFAULT 0, "password_id" integer, "referrer" varchar, "successful" boolean, "updated_at" datetime, "url_id" integer, "user_agent" varchar, "user_id" integer);
CREATE TABLE IF NOT EXISTS "active_storage_attachments" ("id" integer NOT NULL PRIMARY KEY, "blob_id" integer NOT NULL, "created_at" datetime NOT NULL, "name" varchar NOT NULL, "record_id" integer NOT NULL, "record_type" varchar NOT NULL, CONSTRAINT "fk_rails_c3b3935057"
FOREIGN KEY ("blob_id")
  REFERENCES "active_storage_blobs" ("id")
);
INSERT INTO active_storage_attachments VALUES(1,1,'2026-08-01 10:03:30','files',2,'Push');
INSERT INTO active_storage_attachments VALUES(2,2,'2026-08-01 10:03:30','files',2,'Push');
CREATE TABLE IF NOT EXISTS "active_storage_variant_records" ("id" integer NOT NULL PRIMARY KEY, "blob_id" integer NOT NULL, "variation_digest" varchar NOT NULL, CONSTRAINT "fk_rails_993965df05"
FOREIGN KEY ("blob_id")
  REFERENCES "active_storage_blobs" ("id")
);
CREATE TABLE IF NOT EXISTS "audit_logs" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "ip" varchar DEFAULT NULL, "kind" integer NOT NULL, "push_id" integer NOT NULL, "referrer" varchar DEFAULT NULL, "updated_at" datetime NOT NULL, "user_agent" varchar DEFAULT NULL, "user_id" integer DEFAULT NULL, CONSTRAINT "fk_rails_0f00f21c9f"
FOREIGN KEY ("push_id")
  REFERENCES "pushes" ("id")
);
INSERT INTO audit_logs VALUES(1,'2026-08-01 10:20:30.123456','203.0.113.7',0,1,'','2026-08-01 10:20:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(2,'2026-08-01 10:21:30.123456','2001:db8::7',1,1,'https://example.com/?q=''x''','2026-08-01 10:21:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL);
INSERT INTO audit_logs VALUES(3,'2026-08-01 10:22:30.123456','203.0.113.7',1,1,'https://example.com/?q=''x''','2026-08-01 10:22:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL);
INSERT INTO audit_logs VALUES(4,'2026-08-01 10:23:30.123456','2001:db8::7',4,1,'https://example.com/?q=''x''','2026-08-01 10:23:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL);
INSERT INTO audit_logs VALUES(5,'2026-08-01 10:24:30.123456','203.0.113.7',6,1,'https://example.com/?q=''x''','2026-08-01 10:24:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(6,'2026-08-01 10:25:30.123456','2001:db8::7',0,2,'https://example.com/?q=''x''','2026-08-01 10:25:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(7,'2026-08-01 10:26:30.123456','203.0.113.7',1,2,'https://example.com/?q=''x''','2026-08-01 10:26:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',2);
INSERT INTO audit_logs VALUES(8,'2026-08-01 10:27:30.123456','2001:db8::7',0,5,'https://example.com/?q=''x''','2026-08-01 10:27:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(9,'2026-08-01 10:28:30.123456','203.0.113.7',1,5,'https://example.com/?q=''x''','2026-08-01 10:28:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL);
INSERT INTO audit_logs VALUES(10,'2026-08-01 10:29:30.123456','2001:db8::7',3,5,'https://example.com/?q=''x''','2026-08-01 10:29:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(11,'2026-08-01 10:30:30.123456','203.0.113.7',2,5,'https://example.com/?q=''x''','2026-08-01 10:30:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',NULL);
INSERT INTO audit_logs VALUES(12,'2026-08-01 10:31:30.123456','2001:db8::7',5,1,'https://example.com/?q=''x''','2026-08-01 10:31:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(13,'2026-08-01 10:32:30.123456','203.0.113.7',7,1,'https://example.com/?q=''x''','2026-08-01 10:32:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
INSERT INTO audit_logs VALUES(14,'2026-08-01 10:33:30.123456','2001:db8::7',8,1,'https://example.com/?q=''x''','2026-08-01 10:33:30.123456','Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''',1);
CREATE TABLE IF NOT EXISTS "notify_by_emails" ("id" integer NOT NULL PRIMARY KEY, "audit_log_id" integer NOT NULL, "created_at" datetime NOT NULL, "error_message_ciphertext" text DEFAULT NULL, "locale_ciphertext" text DEFAULT NULL, "proceed_at" datetime DEFAULT NULL, "recipients_ciphertext" text NOT NULL, "recipients_count" integer DEFAULT 0 NOT NULL, "status" integer DEFAULT 0 NOT NULL, "successful_sends_ciphertext" text DEFAULT NULL, "updated_at" datetime NOT NULL, CONSTRAINT "fk_rails_e563e25a27"
FOREIGN KEY ("audit_log_id")
  REFERENCES "audit_logs" ("id")
);
CREATE TABLE IF NOT EXISTS "pushes" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "deletable_by_viewer" boolean DEFAULT 1, "expire_after_days" integer DEFAULT NULL, "expire_after_views" integer DEFAULT NULL, "expired" boolean DEFAULT 0, "expired_on" datetime DEFAULT NULL, "kind" integer NOT NULL, "name" varchar DEFAULT NULL, "note_ciphertext" text DEFAULT NULL, "passphrase_ciphertext" text(2048) DEFAULT NULL, "payload_ciphertext" text(16777215) DEFAULT NULL, "retrieval_step" boolean DEFAULT 0, "updated_at" datetime NOT NULL, "url_token" varchar DEFAULT NULL, "user_id" integer DEFAULT NULL, CONSTRAINT "fk_rails_f17d7dae7e"
FOREIGN KEY ("user_id")
  REFERENCES "users" ("id")
);
INSERT INTO pushes VALUES(1,'2026-08-01 10:01:30.123456',1,7,5,0,NULL,0,replace(replace('It''s a \ test;\012-- no comment	tab "quoted" ü 🎉\r\012/* $$ */ \n \N '''' E''x'' );','\r',char(13)),'\012',char(10)),'deoMa7bcVIF+xzV3O1QIEsqlCf5WnxVA2pvdQpmWWyjyAGmKaNWLzvxvUA/kxJw=','MTa8vGlcI0+0PAvLKlp88Hk+05juBHA/zm5roI66UoPe71ACbE1/b1AK','Ya53RBiywSOLZErVMQR6Pg/oVM8gnWf4fkMbB7O/bJNpl2LOBn0bnWGmKt5NuXphtddTksOMh8c3/cWz4AJhevS6/wHOBlaY6Pi+CEJRqFmPp7fv5/itpbpRGUYVGquqkp2+IM3ra1g=',1,'2026-08-01 10:01:30.123456','ab12-cd34_ef',1);
INSERT INTO pushes VALUES(2,'2026-08-01 10:02:30.123456',1,30,100,0,NULL,1,'','','','',0,'2026-08-01 10:02:30.123456','z9y8x7w6v5u4t3s2r1q',1);
INSERT INTO pushes VALUES(3,'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,2,'','','','QD7mAhF1w/MNwSvWxMk6xtJtJEyYKS+f4pYBXrOH3KTmirrgoTNc3kytKzhocx6wDkw1VTBnGg==',0,'2026-08-01 10:03:30.123456','url-token-00',2);
INSERT INTO pushes VALUES(4,'2026-08-01 10:04:30.123456',0,7,5,0,NULL,3,'','','','XFJjhV8eDBRxEJRuf+sJQiJyzFbgZUS54IDTfDpbdcVtrP4hiGZXgO8NSJlTF3Dr86Tujoo=',0,'2026-08-01 10:04:30.123456','qr_token_0000000',NULL);
INSERT INTO pushes VALUES(5,'2026-08-01 10:05:30.123456',1,7,5,1,'2026-08-01 10:20:30.123456',0,'gone','',NULL,NULL,0,'2026-08-01 10:05:30.123456','expired-token',1);
INSERT INTO pushes VALUES(6,'2026-08-01 10:06:30.123456',1,7,5,0,NULL,0,'','','','wRO9ulWSJ27OB3Zb3U6VVrZMUU3uloFwoc1GnzmyRVsjNCllNLZLT6HLrpTbstJmZ5A=',0,'2026-08-01 10:06:30.123456','older-key-00',NULL);
INSERT INTO pushes VALUES(7,'2026-08-01 10:07:30.123456',1,7,5,0,NULL,0,'','','','3EIynzTJqB9xBANO3jd0FoEvjq0QDB/tOX5/7l9XL0KbCBVo70OxcXPm3CSaCdo9sw==',0,'2026-08-01 10:07:30.123456','default-key-0',NULL);
INSERT INTO pushes VALUES(8,'2026-08-01 10:08:30.123456',1,7,5,0,NULL,0,'','','','WvmeBbEMBUj6MW6mknQ94ptOJEuY4gr9bH/gkH7tPKIdOBAQEBFIoCV1+vxAmgPegADTVU/Q+rPoXUOFg7IRXoKfeu+QEJzb0mhmcwiqB6eCvEGtFuJEwv9KMs//F4YA5zABQoB0H1pZVDWvc+LIM2boBTprqkARRz/oNT3KnPr5pbggwuncBaMOh+P9++sJcUM2CJMcThMvOjpUgPeyKIWV2Fmv6o127Fjc+aoFD+aMPJ8ZjZNZB5IPISgUu9XJX0AgYCC/5Gg/QWsBK+XCur4QVtCpMKLIF1L/Q/2xH2xrxAxs0wA9tGNEwDo8BK/aBttqQ8Jd1wB55JcOCqHvo248diL9wHruzSpxACbVAwGEESC6B8KX5GtFNlTIGb1BliTszUS4pQQ2rWZxdfNyKS5YWYRl9KLSAdYVSdrA+bvw5W5Ty2oqepKzNHdr+/bFCWwZoznVTE8N0FIMMMfgmAVBE61fSWMNFL6W+NWxzYx9Yh0XvkD3do5no0s9u+FGvy0R//9RoUZuW+IqHuWg8TNhUDww5PllJVfb8o9SJXuENntenY6gFdgG0esMP+WcR2Iop9eht4dj9I0MAd/+HIf9gkdhfWxtidVWoq10kW5L+tlLKYYqFAUwzb9nzUvQi8Y2CqpZ6YbuvypXTQ8a5aK4bScXkhXAyIZL5d5bllUyE11AM2vzQjqDytIj58SFGex8/5pJ1xxdrYDmmKbmCe2Ftr18zU4tJO4GoxeRH6iUZUFNva1btiHxEIbaIz6j+NxNZa7k1qgu2M45dbFXyO8fEwFDd6wQZlTfpJlEKzI+PVFvSWuTFzP1bbdfAWmPV3bRrQ8fBrsjBCQRN7Eh4Y2KV0SXMRw9/kunLaNyhJTjhaes38KYH5xQF5RThbQZIj4NTtWP7T0jGzAlt3uRNXUrV5MTY6YQH3W9ZPCuBXgcJent7bITVTKG8SEwGaxizM75i+ojNiDmb0P5XsJnhuZY8IiQgRWkGFMAC4RyOVnbXyHBEjJ6FoDDXxHvLl26NRaAgE/TVIbirh/rJPl0ofcKbYrBumNzcx9SeTVPatTzFz6AjTeuGTRV/l76a2Ncj9O+aptbX+Kp5iOw+H5DbcUGTB3l8V/j91P+aD/X8ZsCDj2Udg/PDfR/4ZuOzXghzjN7q5blFNviScQw/zPstsGtVNj29xO/OvxqM8qBhERHKVc6BG2PpzD1xsnA5XaHTxP2h/pcWfgZD5sRNpc1y0zZmFn4aI/xSGlFlNFEu3MpcU6M1Xh39+Hi9nxg8WeFvL2LM2HCd3wi3i53izB2W8ne7scKUstR5lgaSyG02KFFUNjzUR0rKgx7vaMC/ZX+V4eAW9gLR8pDOrie1AOahsBSYzQGTmQ=',0,'2026-08-01 10:08:30.123456','long-token-00',NULL);
CREATE TABLE IF NOT EXISTS "solid_queue_blocked_executions" ("id" integer NOT NULL PRIMARY KEY, "concurrency_key" varchar NOT NULL, "created_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "job_id" integer NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "queue_name" varchar NOT NULL, CONSTRAINT "fk_rails_4cd34e2228"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_claimed_executions" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "job_id" integer NOT NULL, "process_id" integer DEFAULT NULL, CONSTRAINT "fk_rails_9cfe4d4944"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_failed_executions" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "error" text DEFAULT NULL, "job_id" integer NOT NULL, CONSTRAINT "fk_rails_39bbc7a631"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_ready_executions" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "job_id" integer NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "queue_name" varchar NOT NULL, CONSTRAINT "fk_rails_81fcbd66af"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_recurring_executions" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "job_id" integer NOT NULL, "run_at" datetime NOT NULL, "task_key" varchar NOT NULL, CONSTRAINT "fk_rails_318a5533ed"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "solid_queue_scheduled_executions" ("id" integer NOT NULL PRIMARY KEY, "created_at" datetime NOT NULL, "job_id" integer NOT NULL, "priority" integer DEFAULT 0 NOT NULL, "queue_name" varchar NOT NULL, "scheduled_at" datetime NOT NULL, CONSTRAINT "fk_rails_c4316f352d"
FOREIGN KEY ("job_id")
  REFERENCES "solid_queue_jobs" ("id")
 ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
INSERT INTO schema_migrations VALUES('20260509010000');
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
INSERT INTO ar_internal_metadata VALUES('environment','default_env','2026-11-22 21:24:57.115713','2026-11-22 21:24:57.115713');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('users',2);
INSERT INTO sqlite_sequence VALUES('active_storage_blobs',2);
CREATE UNIQUE INDEX "index_active_storage_blobs_on_key" ON "active_storage_blobs" ("key");
CREATE UNIQUE INDEX "index_data_migration_statuses_on_name" ON "data_migration_statuses" ("name");
CREATE UNIQUE INDEX "index_site_settings_on_key" ON "site_settings" ("key");
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
CREATE INDEX "index_audit_logs_on_kind" ON "audit_logs" ("kind");
CREATE INDEX "index_audit_logs_on_push_id" ON "audit_logs" ("push_id");
CREATE INDEX "index_audit_logs_on_user_id" ON "audit_logs" ("user_id");
CREATE INDEX "index_notify_by_emails_on_audit_log_id" ON "notify_by_emails" ("audit_log_id");
CREATE UNIQUE INDEX "index_pushes_on_url_token" ON "pushes" ("url_token");
CREATE INDEX "index_pushes_on_user_id" ON "pushes" ("user_id");
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
